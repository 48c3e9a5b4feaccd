"""Schemathesis, which knows only the OpenAPI document, has nothing to object to in the reference portal."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import pytest
import schemathesis
from schemathesis.config import SchemathesisConfig
from schemathesis.engine import events, from_schema
from schemathesis.engine.recorder import ScenarioRecorder

from conformance.errors import SuiteError, Untestable
from conformance.spec import BY_KEY, OPERATIONS
from conformance.spec.endpoints import CHANNEL_COMMAND_DEACTIVATE, LOGIN_INITIATE, PROFILE
from conformance.spec.openapi import QUERIES, document
from conformance.target.bundled import running_portal
from conformance.target.portal import Portal
from conformance.target.portal.transport import clock_of
from conformance.target.profile.model import Profile
from conformance.traffic.exchange import Json

SEED = 20
EXAMPLES = 2
"""What fuzzing draws for an operation, beside the examples and the boundaries that are always tried."""

A_WINDOW_HOLDS = 5
"""Initiations of its own after which time passes: its sign-ins for tokens share the window of ten."""

REAL = 0.5
"""How often an id of the profile stands in a path, instead of any text."""

FREE_OF_BUSINESS = [
    operation.key for operation in OPERATIONS if operation.request is None and operation.key not in QUERIES
]
"""Operations in whose requests nothing is left to be invalid.

Of the others the document only tells fields and types. That whatever has them must be accepted, as
``positive_data_acceptance`` demands, is not stated: an id may be unknown, an email none, a body not the one
that the portal wants (N1), and the error table answers what is invalid with 400.
"""


@dataclass(frozen=True)
class Objection:
    """What Schemathesis finds wrong: its check, the endpoint, and why."""

    check: str
    endpoint: str
    reason: str
    request: str = ""

    def __str__(self) -> str:
        return f"{self.check}: {self.endpoint}: {self.reason} ({self.request})"


@dataclass
class Opinion:
    """``answered``: how often each endpoint answered with which status."""

    objections: list[Objection] = field(default_factory=list)
    answered: Counter[tuple[str, int]] = field(default_factory=Counter)
    errors: list[str] = field(default_factory=list)


def opinion_of(profile: Profile, *, operations: Collection[str] = (), examples: int = EXAMPLES) -> Opinion:
    """What Schemathesis says of a portal that answers at the profile's URL; of all endpoints, or of some."""
    with Portal.connect(profile, impact="disruptive", clock=clock_of(profile)) as portal:
        config = _configured(profile, examples)
        described = _with_bodies_of(portal, operations or BY_KEY)
        schema = schemathesis.openapi.from_dict(described, config=config)
        schema.config.update(base_url=profile.portal.url)
        schema.auth(retry_on=[401])(_signing_in(portal))
        opinion = Opinion()
        for event in from_schema(schema).execute():
            if isinstance(event, events.ScenarioFinished):
                _note(opinion, event.label or "", event.recorder)
            elif isinstance(event, events.NonFatalError | events.FatalError):
                opinion.errors.append(str(event))
    return opinion


def _with_bodies_of(portal: Portal, operations: Collection[str]) -> dict[str, Json]:
    """The document of some operations, with the bodies that the profile has for this target as examples."""
    described = document()
    records, admin = portal.profile.records, portal.profile.accounts["admin"]
    bodies = {
        LOGIN_INITIATE: {"email": admin.email, "password": admin.password},
        CHANNEL_COMMAND_DEACTIVATE: {"bizId": records.channel},
    }
    for operation in OPERATIONS:
        if operation.key not in operations:
            del described["paths"][operation.path][operation.method.lower()]
            continue
        if operation.request is None or operation.encrypted:
            continue
        kept = records.channel_type if "/channel-types/" in operation.path else records.channel
        with contextlib.suppress(Untestable):
            body = bodies.get(operation.key) or portal.operation_body(
                operation.key, result_id=kept, unique="unique"
            )
            content = described["paths"][operation.path][operation.method.lower()]["requestBody"]["content"]
            content["application/json"]["example"] = body
    return described


def _configured(profile: Profile, examples: int) -> SchemathesisConfig:
    records = profile.records
    ids = {
        "userBizId": records.account,
        "institutionBizId": records.institution,
        "roleBizId": records.role,
        "fileBizId": records.file,
        "workspaceId": records.workspace,
    }
    return SchemathesisConfig.from_dict(
        {
            "seed": SEED,
            "continue-on-failure": True,
            "headers": {
                "X-PORTAL-ACCESS-CODE": profile.portal.access_code,
                profile.bot_challenge.header: profile.bot_challenge.token,
            },
            "generation": {
                "max-examples": examples,
                "deterministic": True,
                "no-shrink": True,
                "database": "none",
            },
            "dictionaries": {name: {"values": [id]} for name, id in ids.items()},
            "parameters": {f"path.{name}": {"dictionary": name, "probability": REAL} for name in ids},
            "checks": {"positive_data_acceptance": {"enabled": False}},
            "operations": [
                {"include-name": name, "checks": {"positive_data_acceptance": {"enabled": True}}}
                for name in FREE_OF_BUSINESS
            ],
        }
    )


def _signing_in(portal: Portal) -> type:
    """What gets a token when one is needed, and again when the last one is refused: logout is tried too.

    It also lets the window of sign-ins pass in time: of what is refused for its number nothing is learnt.
    """
    initiated = count(1)

    class SigningIn:
        def get(self, case: Any, context: Any) -> str | None:
            with contextlib.suppress(SuiteError):
                return portal.account("admin").fresh_sign_in().token
            return None

        def set(self, case: Any, token: str | None, context: Any) -> None:
            case.headers["Authorization"] = f"Bearer {token}"
            if case.operation.label == LOGIN_INITIATE and next(initiated) % A_WINDOW_HOLDS == 0:
                portal.clock.wait(portal.budget.window + 1, "the window of sign-ins")

    return SigningIn


def _note(opinion: Opinion, endpoint: str, recorder: ScenarioRecorder) -> None:
    for interaction in recorder.interactions.values():
        if interaction.response is not None:
            opinion.answered[endpoint, interaction.response.status_code] += 1
    opinion.objections.extend(_objections(endpoint, recorder))


def _objections(endpoint: str, recorder: ScenarioRecorder) -> Iterator[Objection]:
    for case, checks in recorder.checks.items():
        for check in checks:
            if check.failure_info is not None:
                request = recorder.interactions[case].request
                line = f"{request.method} {request.uri} {request.body!r}"
                yield Objection(check.name, endpoint, check.failure_info.failure.message, line)


def test_schemathesis_finds_nothing_in_the_reference_portal() -> None:
    """It has seen every endpoint answer, and those that need nothing special succeed."""
    with running_portal(seed=1) as profile:
        opinion = opinion_of(profile)

    assert opinion.errors == []
    assert [str(objection) for objection in opinion.objections] == []
    assert {endpoint for endpoint, _ in opinion.answered} == BY_KEY.keys()
    served = {endpoint for endpoint, status in opinion.answered if 200 <= status < 300}
    assert set(FREE_OF_BUSINESS) <= served


@pytest.mark.parametrize(
    "fault, endpoint, check",
    [
        ("account-biz-id-number", PROFILE, "response_schema_conformance"),
        ("profile-without-token", PROFILE, "ignored_auth"),
        ("unknown-role-is-a-server-error", "GET /web/v1/system/roles/{roleBizId}", "not_a_server_error"),
    ],
)
def test_it_would_object_to_a_portal_that_contradicts_the_document(
    fault: str, endpoint: str, check: str
) -> None:
    with running_portal(seed=1, faults=[fault]) as profile:
        opinion = opinion_of(profile, operations=[endpoint], examples=1)

    assert check in {objection.check for objection in opinion.objections}
