"""Describes a replay before it runs: what would be sent, and which value comes from which response."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from conformance.replay.changes.sent import changes_foreseen
from conformance.replay.recording.lines import PlanLine
from conformance.replay.recording.plan import ReplayPlan
from conformance.replay.recording.values import PlacedValue, leaves, unfolded
from conformance.report.model.words import plural
from conformance.target.profile.model import Profile

MOST = 500


def foreseen(plan: ReplayPlan, profile: Profile, accounts: Mapping[str, str]) -> Iterator[str]:
    """What a replay would send, and what it would omit. ``accounts`` are the profile's by recorded email."""
    wanted = [position for position in plan.order if plan.session_of[position] >= 0]
    sent = [position for position in wanted if position not in plan.refused]
    url = profile.portal.url
    yield f"{len(sent)} of {len(wanted)} requests of {plural(plan.sessions, 'client')} would go to {url}."
    operations: Counter[str] = Counter()
    for position in sent:
        operations[plan.line(position).endpoint] += 1
    for key, times in sorted(operations.items(), key=lambda pair: (-pair[1], pair[0])):
        yield f"{times:7} {key}"
    for why, times in Counter(
        plan.refused[position] for position in wanted if position in plan.refused
    ).most_common():
        yield f"{times:7} would not be sent: {why}."
    yield from changes_foreseen(plan)
    for email in plan.emails:
        name = f"[accounts.{accounts[email]}]" if email in accounts else "no account of the profile"
        yield f"        {email} signs in as {name}."


def explained(plan: ReplayPlan) -> Iterator[str]:
    """Each correlated value: the request and its place, the response and its places."""
    count = 0
    for position in plan.order:
        if plan.session_of[position] < 0:
            continue
        for sent in plan.line(position).values():
            source = plan.sources.get(sent.value)
            if source is None:
                continue
            if count == MOST:
                yield "… and more."
                return
            count += 1
            yield _explanation(plan, position, sent, source)


def _explanation(plan: ReplayPlan, position: int, sent: PlacedValue, source: int) -> str:
    places = list(dict.fromkeys(places_in(plan.line(source), sent.value)))
    named = " and ".join(places[:3]) or "its headers"
    relation = "is" if sent.value in plan.handles else "reads like"
    ambiguous = f" ({len(places)} places: ambiguous where they differ)" if len(places) > 1 else ""
    return (
        f"exchange {plan.number_of(position)} {sent.place} {relation} what exchange "
        f"{plan.number_of(source)} returned at {named}{ambiguous}"
    )


def places_in(line: PlanLine, value: str) -> Iterator[str]:
    for place, leaf in leaves(line.response_json(), ""):
        for inner in unfolded(place, leaf):
            if inner.value == value:
                yield inner.place.lstrip(".")
