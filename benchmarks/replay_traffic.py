"""The recording that the replay benchmarks use: many clients who sign in and read, cloned from a real one."""

from __future__ import annotations

import json
import re
import tomllib
from datetime import datetime, timedelta
from pathlib import Path

from conformance import record
from conformance.tests.scripted_client import SYSTEM, Walker
from reference_impl import serve
from reference_impl.limits import Limits

LIMITS = Limits(login_initiations=100_000)
READS = (
    *("/profile", "/workspaces/mine", "/security/mfa", "/security/ip-whitelist", "/constants/countries"),
    *("/constants/user-mfa-methods", "/constants/wallet-statuses", "/profile/invitations?statuses=10050301"),
)


def recorded_visit(out: Path) -> list[str]:
    """One real visit, as the recorder wrote it: three exchanges to sign in, then reads only."""
    with serve.start(limits=LIMITS) as portal, record.serve(portal.url, out) as recorder:
        profile = tomllib.loads(portal.profile())
        walker = Walker(recorder.url, profile, hash="client-hash-0")
        walker.sign_in({**profile["accounts"]["admin"], "mfa": "EMAIL"})
        workspace = walker.get("/workspaces/current")["data"]
        for path in (*READS, f"/institutions/{workspace['institutionBizId']}"):
            walker.get(path)
        for role in walker.get("/roles")["data"][:2]:
            walker.get(f"/roles/{role['bizId']}")
        walker.look_at_orders(workspace["bizId"])
        filters = {"page": 0, "size": 5, "email": None, "name": None}
        account = walker.post("/accounts/admin/query", filters)["data"]["accounts"][0]
        walker.call("GET", f"{SYSTEM}/accounts/admin/{account['bizId']}")
    # Without what the recorder says of hidden tokens: a stub gives others, which are no JWT.
    lines = [json.loads(line) | {"hidden": None} for line in out.read_text().splitlines()]
    return [json.dumps(line, separators=(",", ":"), ensure_ascii=False) for line in lines]


def write_traffic(out: Path, *, sessions: int, exchanges: int) -> None:
    """Writes that many exchanges of that many clients, side by side in time."""
    visit_file = out.with_suffix(".visit.jsonl")
    visit_file.unlink(missing_ok=True)
    visit = recorded_visit(visit_file)
    sign_in, reads = visit[:3], visit[3:]
    each = exchanges // sessions
    body = (reads * (each // len(reads) + 1))[: each - len(sign_in)]
    began = datetime.fromisoformat(json.loads(visit[0])["started"])
    ids = {json.loads(line)["response"]["body"]["data"]["sessionId"] for line in sign_in[:1]}
    count = 0
    with out.open("w") as file:
        for step, line in enumerate([*sign_in, *body]):
            for session in range(sessions):
                count += 1
                started = began + timedelta(seconds=step / 10)
                file.write(_of_session(line, ids, session, started, count) + "\n")


def _of_session(line: str, ids: set[str], session: int, started: datetime, number: int) -> str:
    """The same exchange of another client: another login session, other tokens, another fingerprint."""
    for id in ids:
        line = line.replace(id, f"{id[:-4]}{session:04d}")
    line = line.replace("client-hash-0", f"client-hash-{session}")
    line = re.sub(
        r"\[((?:refresh-)?token|code)-(\d+)\]",
        lambda match: f"[{match[1]}-{1000 * int(match[2]) + session}]",
        line,
    )
    exchange = json.loads(line)
    exchange["n"] = number
    exchange["started"] = started.isoformat()
    if isinstance(exchange["response"]["body"].get("timestamp"), int):
        exchange["response"]["body"]["timestamp"] = round(started.timestamp() * 1000)
    return json.dumps(exchange, ensure_ascii=False, separators=(",", ":"))
