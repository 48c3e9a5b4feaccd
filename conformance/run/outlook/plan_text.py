"""A plan as a person reads it: what a run would decide, wait for, send at most and leave out."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict

from conformance.report.model.visible import one_line
from conformance.report.model.words import plural
from conformance.run.outlook.plan import RunPlan
from conformance.run.planning import in_words
from conformance.spec import OPERATIONS, REQUIREMENTS
from conformance.spec.tables import LIMITS

LONG_MINUTES = 10
"""Minutes of a run after which it is said how it is made shorter."""

MOST_CHANGES = 12
"""Cases that change something and are named."""


def as_json(planned: RunPlan) -> str:
    return json.dumps(asdict(planned), indent=2, ensure_ascii=False)


def as_line(planned: RunPlan) -> str:
    """The plan in a line, for ``--quiet``."""
    return " · ".join(
        (
            plural(planned.cases, "case"),
            f"at most {plural(planned.sign_ins, 'sign-in')}",
            f"at most {plural(planned.mails, 'mail')}",
            f"{plural(len(planned.changing), 'case')} that change something",
            f"{planned.testable} of {planned.musts} musts",
        )
    )


def as_text(planned: RunPlan) -> str:
    """The plan in groups, a line each: what would not be tried is counted by reason."""
    return "\n".join(_lines(planned))


def _lines(planned: RunPlan) -> Iterator[str]:
    whole = planned.cases + len(planned.late) + len(planned.untested)
    yield f"With --impact {planned.impact} a run would try {planned.cases:,} of {plural(whole, 'case')}:"
    if planned.target:
        of_profile = f" · profile {one_line(planned.profile)}" if planned.profile else ""
        yield f"target    {one_line(planned.target)}{of_profile}"
    levels = (("must", "musts"), ("should", "shoulds"), ("open", "open rules"))
    decided = (f"{planned.decided(key)} of {planned.selected.get(key, 0)} {name}" for key, name in levels)
    yield f"rules     {', '.join(decided)}"
    if planned.floor is not None:
        below = "below it a run is inconclusive"
        if planned.testable < planned.floor:
            below = "this run would test fewer, and be inconclusive"
        yield f"floor     {plural(planned.floor, 'must')}; {below} (exit code 5)"
    yield f"endpoints {len(planned.endpoints)} of {len(OPERATIONS)} (--format json names them and the rules)"
    yield from _beyond_budget(planned)
    yield from ahead_lines(planned)
    yield f"mails     {f'at most {planned.mails}, by [limits] max_mails' if planned.mails else 'none'}"
    yield from _changes(planned)
    yield from _not_tried(planned)


def ahead_lines(planned: RunPlan) -> Iterator[str]:
    """The waits and sign-ins of a run, as a plan and the first lines of the run name them."""
    lasts = f"{planned.minutes:g} min at least, as its waits overlap, and what its requests take"
    if planned.is_simulated:
        lasts = "what its requests take: [clock] moves the target's time, so that no wait takes any"
    yield f"time      {lasts}"
    yield from (f"codes     a sign-in of {wait}" for wait in planned.code_waits)
    yield f"sign-ins  {_sign_ins(planned)}"
    yield from (f"waits     up to {_wait(wait)}" for wait in planned.waits)
    yield from (
        f"left out  what follows a wait of {_wait(wait)}: it is longer than --time-budget"
        for wait in planned.left_out
    )
    if planned.restoring:
        kept = f"up to {planned.restoring:g} s of the time budget are kept as long as something is changed"
        yield f"restoring {kept}, to restore it"
    if planned.is_too_short_to_restore:
        longer = "the time budget is shorter than what restoring them may take"
        yield f"changes   none of accounts, so that the rules on them stay undecided: {longer}"
    if planned.is_unbounded and planned.minutes > LONG_MINUTES:
        yield "budget    --time-budget 10m leaves out what takes longer, and names it"


def _beyond_budget(planned: RunPlan) -> Iterator[str]:
    """What the time budget leaves out, of which the waits are named further below."""
    if planned.beyond_time:
        musts = sum(REQUIREMENTS[rule].level == "must" for rule in planned.beyond_time)
        rules = f"{plural(len(planned.beyond_time), 'rule')}, {plural(musts, 'must')} among them"
        cases = f"{plural(len(planned.late), 'case')} not begun, and " if planned.late else ""
        yield f"budget    {cases}at least {rules}, not decided within it; waits for sign-ins may leave more"


def _sign_ins(planned: RunPlan) -> str:
    if not planned.sign_ins:
        return "none"
    most = f"at most {planned.sign_ins} with --effort quick"
    if planned.is_simulated:
        return most
    assumed = " (assumed: [limits] login_window is not given)" if planned.is_window_assumed else ""
    return f"{most}, {LIMITS.login_initiations} in each window of {planned.window:g} s{assumed}"


STAYING = {
    "BACKUP-004": "new backup codes of [accounts.spare]",
    "INVITATION-020": "invitations that are answered",
}
"""What nothing restores, by a rule that cannot be tested without it."""


def _changes(planned: RunPlan) -> Iterator[str]:
    """Lists the cases that change data, and the changes that nothing restores."""
    if not planned.changing:
        yield "changes   none"
        return
    staying = " and ".join(what for rule, what in STAYING.items() if rule in planned.rules)
    but = f", but for {staying}" if staying else ""
    yield f"changes   by {plural(len(planned.changing), 'case')}; the run restores them{but}"
    words = list(dict.fromkeys(in_words(case).partition("[")[0] for case in planned.changing))
    yield from (f"          {each}" for each in words[:MOST_CHANGES])
    if len(words) > MOST_CHANGES:
        yield f"          and {len(words) - MOST_CHANGES} more (--format json names each case)"


def _wait(wait: str) -> str:
    """A wait with its case in words: ``300 s (a login session lives as long as stated)``."""
    seconds, _, case = wait.partition(": ")
    return f"{seconds} ({in_words(case)})"


def _not_tried(planned: RunPlan) -> Iterator[str]:
    if planned.undecided:
        yield f"{plural(len(planned.undecided), 'rule')} would not be decided (--format json names each):"
        for why, count in Counter(planned.undecided.values()).most_common():
            yield f"  {count:>4}  {why}"
    if planned.untested:
        cases = plural(len(planned.untested), "case")
        yield f"{cases} would not be tried (--format json says of each what it needs)."
