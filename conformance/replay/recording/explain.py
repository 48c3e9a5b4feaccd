"""A replay in words, before it runs: what would be sent, and what is handed over from where to where."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from conformance.replay.recording.lines import PlanLine
from conformance.replay.recording.plan import Plan
from conformance.replay.recording.values import leaves, unfolded
from conformance.target.profile.model import Profile

MOST = 500


def foreseen(plan: Plan, profile: Profile) -> Iterator[str]:
    """What a replay would send, and what it would leave out."""
    wanted = [position for position in plan.order if plan.session_of[position] >= 0]
    sent = [position for position in wanted if position not in plan.refused]
    url = profile.portal.url
    yield f"{len(sent)} of {len(wanted)} requests of {plan.sessions} clients would go to {url}."
    operations: Counter[str] = Counter()
    for position in sent:
        line = plan.line(position)
        operations[line.operation.key if line.operation else f"{line.request.method} {line.path}"] += 1
    for key, times in sorted(operations.items(), key=lambda pair: (-pair[1], pair[0])):
        yield f"{times:7} {key}"
    for why, times in Counter(
        plan.refused[position] for position in wanted if position in plan.refused
    ).most_common():
        yield f"{times:7} would not be sent: {why}."
    known = {account.email.lower(): f"[accounts.{name}]" for name, account in profile.accounts.items()}
    for email in plan.emails:
        yield f"        {email} signs in as {known.get(email.lower(), 'nobody that the profile knows')}."


def explained(plan: Plan) -> Iterator[str]:
    """Each value that is handed over: the request and its place, the answer and its places."""
    told = 0
    for position in plan.order:
        if plan.session_of[position] < 0:
            continue
        line = plan.line(position)
        for found in line.handed():
            source = plan.given.get(found.value)
            if source is None:
                continue
            if told == MOST:
                yield "… and more."
                return
            told += 1
            places = list(dict.fromkeys(places_in(plan.line(source), found.value)))
            named = " and ".join(places[:3]) or "its headers"
            relation = "is" if found.value in plan.handles else "reads like"
            ambiguous = f" ({len(places)} places: ambiguous where they differ)" if len(places) > 1 else ""
            yield (
                f"exchange {plan.number_of(position)} {found.place} {relation} what exchange "
                f"{plan.number_of(source)} gave at {named}{ambiguous}"
            )


def places_in(line: PlanLine, value: str) -> Iterator[str]:
    """Where in an answer a value stands."""
    for place, leaf in leaves(line.answer(), ""):
        for found in unfolded(place, leaf):
            if found.value == value:
                yield found.place.lstrip(".")
