"""Exchanges for tests: each factory gives something valid, and one keyword makes it wrong."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from datetime import UTC, datetime, timedelta
from functools import partial
from urllib.parse import urlencode

from conformance.judging import judge_of, watch
from conformance.spec import BY_KEY, REQUIREMENTS
from conformance.spec.endpoints import PROFILE, ROLES, TRANSFER_ORDERS
from conformance.tests.reduced import overreaching
from conformance.traffic.exchange import ABSENT, Exchange, Form, Json, Request, Response
from conformance.verdicts.findings import Ledger, Observation, Verdict

NOW = datetime(2031, 5, 6, 7, 8, 9, tzinfo=UTC)
TOKEN = "a.token.of-a-session"
HEADERS = {
    "X-PORTAL-ACCESS-CODE": "code-of-the-portal",
    "X-Client-Hash": "hash",
    "X-Request-Id": "a-request",
    "X-LOCALE": "en",
    "Authorization": f"Bearer {TOKEN}",
}


def at(**ago: float) -> str:
    """A time before now, as ISO 8601 in UTC: ``at(days=2)``."""
    return (NOW - timedelta(**ago)).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def envelope(code: str = "2000", data: Json = None, **other: Json) -> dict[str, Json]:
    """A success unless another code is given; ABSENT leaves a field out."""
    fields = {
        "version": "2.0.0",
        "timestamp": int(NOW.timestamp() * 1000),
        "success": code == "2000",
        "code": code,
        "message": "Success" if code == "2000" else "That did not work",
        "data": data,
        **other,
    }
    return {name: value for name, value in fields.items() if value is not ABSENT}


def answer(
    key: str,
    data: Json = None,
    *,
    body: Json = ABSENT,
    sent: Json = ABSENT,
    query: Mapping[str, str] | str = "",
    status: int = 200,
    n: int = 1,
    started: datetime = NOW,
    headers: Mapping[str, str | None] | None = None,
    answered: Mapping[str, str] | None = None,
    form: Form | None = None,
    lacks: tuple[str, ...] = (),
    **parameters: str,
) -> Exchange:
    """A signed-in caller's exchange with one of the 88: a success with ``data``, unless ``body`` is given."""
    row = BY_KEY[key]
    path = row.url(**{name: parameters.get(name, f"id-of-{name}") for name in row.parameters})
    asked = query if isinstance(query, str) else urlencode(query)
    own = {**HEADERS, **(headers or {})}
    return Exchange(
        n=n,
        started=started.isoformat().replace("+00:00", "Z"),
        elapsed_ms=5.0,
        request=Request(
            method=row.method,
            url=f"http://portal.example.test{path}" + (f"?{asked}" if asked else ""),
            headers=[(name, value) for name, value in own.items() if value is not None],
            body=sent,
            lacks=lacks,
        ),
        response=Response(
            status=status,
            headers=list({"Content-Type": "application/json", **(answered or {})}.items()),
            body=envelope(data=data) if body is ABSENT else body,
            form=form,
        ),
    )


def refusal(key: str, code: str, status: int, **other: Json) -> Exchange:
    """An error in its envelope."""
    fields = {name: other.pop(name) for name in ("data", "message", "success") if name in other}
    return answer(key, body=envelope(code, **fields), status=status, **other)


NO_TOKEN: Mapping[str, str | None] = {"Authorization": None}


def judged(*exchanges: Exchange) -> Ledger:
    """What a judge makes of a trace. AssertionError where a check is broken."""
    for exchange in exchanges:
        if exchange.response is not None:
            assert overreaching(exchange) == [], "a check reads more of an exchange than its selection says"
    return ledger_of(*exchanges)


def ledger_of(*exchanges: Exchange) -> Ledger:
    """What a judge makes of a trace. AssertionError where a check raises."""
    ledger = Ledger(REQUIREMENTS)
    judge = watch(ledger, judge=judge_of())
    for exchange in exchanges:
        judge(exchange)
    assert not ledger.errors, ledger.errors
    return ledger


def verdict_on(requirement: str, exchanges: Iterable[Exchange]) -> Verdict:
    results = {result.requirement.id: result.verdict for result in judged(*exchanges).results()}
    return results[requirement]


def contradicted_by(*exchanges: Exchange) -> set[str]:
    """Every requirement that a trace contradicts."""
    return {finding.requirement for finding in judged(*exchanges).findings}


def observed(topic: str, *exchanges: Exchange) -> list[Json]:
    seen: list[Observation] = judged(*exchanges).observations
    return [one.observed for one in seen if one.topic == topic]


def jwt(**claims: Json) -> str:
    """An access token whose claims can be read; ABSENT leaves one out."""
    issued = int(NOW.timestamp())
    fields = {"sub": "id-1", "iat": issued, "exp": issued + 3600, **claims}
    shown = {name: value for name, value in fields.items() if value is not ABSENT}
    parts = ({"alg": "HS256"}, shown)
    return ".".join(
        [*(base64.urlsafe_b64encode(json.dumps(one).encode()).decode().rstrip("=") for one in parts), "c2ln"]
    )


# Resources: each factory gives a valid one; a keyword changes a field, and ABSENT leaves it out.


def coded(code: str, value: float, **other: Json) -> dict[str, Json]:
    return {"code": code, "value": value, "label": code.capitalize(), **other}


def valid(**fields: Json) -> Callable[..., dict[str, Json]]:
    """A factory of objects that have these fields unless it is called with others."""

    def make(**other: Json) -> dict[str, Json]:
        return {name: value for name, value in deepcopy({**fields, **other}).items() if value is not ABSENT}

    return make


record = partial(valid, createdAt=at(days=9), updatedAt=at(days=8))

account = record(
    bizId="account-1",
    institutionBizId="institution-1",
    accountEmail="one@example.test",
    accountPhone="+1 555 0100",
    accountName="One",
    accountRemark=None,
    accountPortal=coded("SYSTEM", 10010101),
    accountStatus=coded("ACTIVE", 10010202),
    defaultLanguage="en",
    defaultTimezone="UTC",
    defaultCountry="US",
)


def account_page(*accounts: Json, **other: Json) -> dict[str, Json]:
    counts = {"totalElements": len(accounts), "totalPages": 1, "currentPage": 0, "pageSize": 20}
    return {"accounts": list(accounts), **counts, **other}


def page(*items: Json, **other: Json) -> dict[str, Json]:
    counts = {"totalPages": 1, "totalRecords": len(items), "currentPage": 1, "pageSize": 20}
    flags = {"hasNext": False, "empty": not items, "paginated": True}
    return {"items": list(items), "pagination": {**counts, **flags, **other}}


def order_page(*orders: Json, **other: Json) -> dict[str, Json]:
    counts = {"totalElements": len(orders), "totalPages": 1, "size": 20, "number": 0}
    return {"content": list(orders), **counts, **other}


METHODS = [coded("EMAIL", 10011001), coded("OTP", 10011002)]
initiated = valid(
    sessionId="login-1", mfaMethods=METHODS, expiresIn=300, accountStatus=None, pendingApproval=False
)
token_pair = valid(accessToken=jwt(), refreshToken="refresh-1", expiresIn=3600)
completed = valid(**token_pair(), accountStatus=None, pendingApproval=False)


def mfa_setting(code: str = "EMAIL", value: int = 10011001, **other: Json) -> dict[str, Json]:
    return {
        "mfaMethod": coded(code, value),
        "isEnabled": True,
        "isPrimary": False,
        "verifiedAt": None,
        **other,
    }


CLIENT = {"clientIp": "203.0.113.7", "userAgent": "A browser"}
session = valid(
    **CLIENT, sessionId="session-1", loginTime=at(hours=2), lastActivityTime=at(hours=1), isCurrent=False
)
session_config = valid(
    accountBizId="account-1",
    ssoEnabled=False,
    maxSessions=5,
    passwordChangedAt=None,
    lastLoginAt=at(hours=1),
    lastLoginIp="203.0.113.7",
)
history_item = valid(**CLIENT, bizId="history-1", loginTime=at(hours=1), loginResult=1, failureReason=None)
workspace = record(
    bizId="workspace-1",
    institutionBizId="institution-1",
    entityBizId=None,
    workspaceName="Main",
    workspaceTimezone="UTC",
    workspaceStatus=coded("ACTIVE", 10010304),
    workspaceKind=coded("LIVE", 10050101),
    extraData=None,
)
institution = record(
    bizId="institution-1",
    institutionName="Example",
    institutionDescription=None,
    institutionRemark=None,
    institutionType=coded("PLATFORM", 10010601),
    institutionStatus=coded("ACTIVE", 10010403),
    extraConfig=None,
)
role = record(
    bizId="role-1",
    workspaceBizId="workspace-1",
    roleName="Owner",
    roleType=coded("OWNER", 10010901),
    description="Everything",
    permissionCodes=[],
)


def invitation(status: str = "PENDING", value: int = 10050301, **other: Json) -> dict[str, Json]:
    fields = {
        "bizId": "invitation-1",
        "workspaceBizId": "workspace-1",
        "workspaceName": "Main",
        "inviterBizId": "account-2",
        "inviterName": "Two",
        "inviteeEmail": "one@example.test",
        "inviteeAccountBizId": "account-1",
        "inviteeAccountName": "One",
        "invitationStatus": coded(status, value),
        "message": None,
        "expiresAt": at(days=-7),
        "acceptedAt": at(days=1) if status == "ACCEPTED" else None,
        "createdAt": at(days=2),
        "canAccept": status == "PENDING",
    }
    return {**fields, **other}


channel_type = record(
    bizId="type-1",
    typeCode="EMAIL",
    typeValue=80010101,
    typeName="Email",
    typeDescription="By mail",
    typeStatus=coded("ENABLED", 80010301),
    displayOrder=1,
    iconUrl=None,
    extraConfig=None,
    enabled=True,
)
DISABLED: Mapping[str, Json] = {"typeStatus": coded("DISABLED", 80010302), "enabled": False}
email_config = valid(
    smtpHost="smtp.example.test",
    smtpPort=587,
    senderEmail="portal@example.test",
    senderName="Portal",
    username="portal",
    password="******",
    useSsl=False,
    useStartTls=True,
    connectionTimeout=5000,
    readTimeout=5000,
)
channel = record(
    bizId="channel-1",
    institutionBizId="institution-1",
    channelName="Mail",
    channelRemark=None,
    channelHost="smtp.example.test",
    channelCategory="EMAIL",
    channelStatus="ACTIVE",
    emailConfig=email_config(),
    createdBy="account-1",
    updatedBy="account-1",
)
file_record = valid(
    bizId="file-1",
    bucket="files",
    objectKey="a/b.pdf",
    originalFilename="b.pdf",
    fileSize=5_000_000_000,
    contentType="application/pdf",
    fileCategory=coded("DOCUMENT", 1),
    fileStatus=coded("UPLOADED", 2),
    etag="0f",
    remark="",
    createdAt=at(days=9),
    createdBy="account-1",
)
order = valid(
    bizId="order-1",
    fromWalletId="wallet-1",
    toWalletId="wallet-2",
    currency="USD",
    amount=100,
    feeAmount=0.25,
    totalAmount=100.25,
    status=2,
    statusName="COMPLETED",
    failureReason=None,
    remark="",
    createdAt=at(days=2),
    completedAt=at(days=1),
)

ABSENT_STAMP: Mapping[str, Json] = {"version": ABSENT, "timestamp": ABSENT}
"""What some samples leave out of the envelope."""


# Exchanges with one endpoint.


def profile(**fields: Json) -> Exchange:
    return answer(PROFILE, account(**fields))


def roles(*listed: Json) -> Exchange:
    return answer(ROLES, list(listed))


def orders(*listed: Json, query: Mapping[str, str] | str = "", **counts: Json) -> Exchange:
    return answer(TRANSFER_ORDERS, order_page(*listed, **counts), query=query)
