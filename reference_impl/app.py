"""The portal as an ASGI application: from octets to a handler and back into the envelope."""

from collections.abc import Sequence
from typing import Any, NamedTuple, TypedDict, Unpack

from starlette.applications import Starlette
from starlette.routing import Router
from starlette.types import ASGIApp, Receive, Scope, Send

from reference_impl import dispatch, errors, offered, sealing, wire
from reference_impl.asked import Asked, read_body
from reference_impl.choices import Choices
from reference_impl.clock import Clock
from reference_impl.draw import Draw
from reference_impl.errors import Refusal
from reference_impl.faults import FAULTS
from reference_impl.limits import Limits
from reference_impl.messages import message
from reference_impl.plan import Plan
from reference_impl.portal import Portal
from reference_impl.records import seed as seeded
from reference_impl.routes import Routes, Row
from reference_impl.variants import VARIANTS

VERSION = "2.0.0"
SUCCESS = "2000"
Headers = list[tuple[bytes, bytes]]


class Reply(NamedTuple):
    status: int
    body: bytes
    headers: Headers


class Application:
    """One portal behind one ASGI callable."""

    def __init__(self, portal: Portal, routes: Routes, tools: offered.Tools) -> None:
        self.portal = portal
        self.routes = routes
        self.tools = tools

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        asked = Asked.of(scope, await read_body(receive, self.portal.limits.body_max))
        status, body, headers = self.reply(asked)
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    def reply(self, asked: Asked) -> Reply:
        tool_answer = self.tools.answer(asked)
        if tool_answer is not None:
            return _reply(tool_answer.status, wire.encoded(tool_answer.data))
        before = self.portal.changes
        reply = self._portal_reply(asked)
        offered.log(self.portal, asked, status=reply.status, changed=self.portal.changes != before)
        return reply

    def _portal_reply(self, asked: Asked) -> Reply:
        row: Row | None = None
        try:
            dispatch.admit(self.portal, asked)
            row, path_parameters = self.routes.find(asked.method, asked.path)
            data = dispatch.serve(self.portal, asked, row, path_parameters)
        except Refusal as refusal:
            return self._refused(asked, row, refusal)
        return self._enveloped(asked, row, 200, SUCCESS, text=self.portal.choices.success_message, data=data)

    def _refused(self, asked: Asked, row: Row | None, refusal: Refusal) -> Reply:
        dialect = row.dialect if row else errors.NAMED
        name = dialect.get(refusal.name, refusal.name)
        error = self.portal.errors[name]
        text = message(error.code, dispatch.language(asked))
        reply = self._enveloped(asked, row, error.status, error.code, text=text, data=refusal.data)
        reply.headers.extend((name.encode(), value.encode()) for name, value in refusal.headers.items())
        return reply

    def _enveloped(
        self, asked: Asked, row: Row | None, status: int, code: str, *, text: str, data: Any
    ) -> Reply:
        choices = self.portal.choices
        envelope: dict[str, Any] = {}
        if choices.envelope_version:
            envelope["version"] = row.version if row else VERSION
        if choices.envelope_timestamp:
            envelope["timestamp"] = int(self.portal.now() * 1000)
        envelope |= {"success": code == SUCCESS, "code": code, "message": text, "data": data}
        body = wire.encoded(envelope)
        if choices.responses == "encrypted" and asked.response_key:
            iv = self.portal.draw.bytes(16)
            body = wire.encoded(sealing.seal(body, asked.response_key, iv, choices))
        return _reply(status, body)


def _reply(status: int, body: bytes) -> Reply:
    return Reply(
        status, body, [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    )


class Settings(TypedDict, total=False):
    """What a portal may differ in: faults and variants by name; a seed for ids and codes that repeat."""

    limits: Limits | None
    choices: Choices | None
    faults: Sequence[str]
    variants: Sequence[str]
    seed: int | None


def build(
    *,
    clock: Clock | None = None,
    offer_clock: bool = True,
    offer_inbox: bool = True,
    **settings: Unpack[Settings],
) -> Starlette:
    """A portal of its own; ``app.state.portal`` and ``app.state.seeded`` are what it holds.

    Raises KeyError, with its name, for a fault or a variant that does not exist.
    """
    plan = _plan(settings)
    portal = _portal(plan, Draw(settings.get("seed")), clock or Clock())
    routes = Routes(plan.rows)
    app: ASGIApp = Application(portal, routes, offered.Tools(portal, clock=offer_clock, inbox=offer_inbox))
    for wrap in (*plan.rewrites, *plan.wrappers):
        app = wrap(app)
    starlette = Starlette()
    # Not a Mount, which leaves paths with a line break to Starlette.
    starlette.router = Router(default=app)
    starlette.state.portal = portal
    starlette.state.routes = routes
    starlette.state.title_case = plan.title_case
    starlette.state.seeded = seeded(portal)
    return starlette


def _plan(settings: Settings) -> Plan:
    plan = Plan(settings.get("limits") or Limits(), settings.get("choices") or Choices())
    for variant in settings.get("variants", ()):
        VARIANTS[variant].apply(plan)
    for fault in settings.get("faults", ()):
        FAULTS[fault].apply(plan)
    return plan


def _portal(plan: Plan, draw: Draw, clock: Clock) -> Portal:
    return Portal(
        limits=plan.limits,
        choices=plan.choices,
        clock=clock,
        draw=draw,
        moves=plan.move_tables(),
        lists=plan.lists,
        fields=plan.fields,
        errors=plan.error_table(),
        tokens=plan.tokens(plan.choices, draw),
        access_code=draw.token(),
        bot_token=draw.token(),
        other_access_code=draw.token(),
        api_key=draw.token(),
    )
