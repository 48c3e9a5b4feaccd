"""A plan as a person reads it: what a run would decide, send, wait for and leave out."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict

from conformance.report.model.visible import one_line
from conformance.report.model.words import duration, plural
from conformance.run.costs import NOBODY
from conformance.run.outlook.pace import MAIL_SECONDS
from conformance.run.outlook.plan import RunPlan
from conformance.run.planning import in_words
from conformance.spec import OPERATIONS, REQUIREMENTS
from conformance.spec.tables import LIMITS

MADE_UP = "addresses that the suite makes up, at example.test"
MOST_CHANGES = 12
"""Cases that change something and are named."""

MEANT_TO_FAIL = {"wrong_passwords": "password", "wrong_codes": "code"}


def as_json(planned: RunPlan) -> str:
    return json.dumps(asdict(planned), indent=2, ensure_ascii=False)


def as_line(planned: RunPlan) -> str:
    """The plan in a line, for ``--quiet``."""
    return " · ".join(
        (
            plural(planned.cases, "case"),
            plural(planned.requests, "request"),
            plural(planned.sign_ins, "sign-in"),
            plural(planned.mails, "mail"),
            plural(planned.changes, "change"),
            f"about {duration(planned.seconds)}",
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
        yield f"target     {one_line(planned.target)}{of_profile}"
    yield f"rules      {_rules(planned)}"
    if planned.floor is not None:
        yield f"floor      {plural(planned.floor, 'must')}; {_against_floor(planned)}"
    yield f"endpoints  {len(planned.endpoints)} of {len(OPERATIONS)} (--format json names them and the rules)"
    yield f"requests   {planned.requests:,}"
    yield f"time       {_time(planned)}"
    yield from _beyond_budget(planned)
    yield from (f"codes      a sign-in of {wait}" for wait in planned.code_waits)
    yield f"sign-ins   {_sign_ins(planned)}"
    yield from _meant_to_fail(planned)
    yield f"mails      {_mails(planned)}"
    if planned.mailed_at_need:
        addresses = ", ".join(planned.mailed_at_need)
        yield f"           a code to {addresses} instead of a longer wait for the authenticator"
    yield from _changes(planned)
    if not planned.is_simulated:
        yield from (f"waits      up to {_wait(wait)}" for wait in planned.waits)
        yield from (
            f"left out   what follows a wait of {_wait(wait)}: it is longer than --time-budget"
            for wait in planned.left_out
        )
    yield from _not_tried(planned)


def _against_floor(planned: RunPlan) -> str:
    """What the floor means for this run."""
    if planned.floor is not None and planned.testable < planned.floor:
        return "this run would test fewer, and be inconclusive (exit code 5)"
    return "below it a run is inconclusive (exit code 5)"


def _beyond_budget(planned: RunPlan) -> Iterator[str]:
    """What the time budget leaves out, of which the waits are named further below."""
    if planned.beyond_budget:
        yield f"           {duration(planned.beyond_budget)} less than it would take without --time-budget"
    if planned.beyond_time:
        musts = sum(REQUIREMENTS[rule].level == "must" for rule in planned.beyond_time)
        rules = f"{plural(len(planned.beyond_time), 'rule')}, {plural(musts, 'must')} among them"
        cases = f"{plural(len(planned.late), 'case')} not begun, and " if planned.late else ""
        yield f"budget     {cases}{rules}, not decided within it"


def _rules(planned: RunPlan) -> str:
    """``433 of 433 musts, 314 of 314 shoulds, 96 of 96 open rules``."""
    counts = (
        f"{planned.decided(level)} of {planned.selected.get(level, 0)} {name}"
        for level, name in (("must", "musts"), ("should", "shoulds"), ("open", "open rules"))
    )
    return ", ".join(counts)


def _time(planned: RunPlan) -> str:
    """How long it lasts, and what that rests on."""
    pace = planned.pace
    each = f"{1000 * pace.seconds:.0f} ms a request"
    mails = f" and {MAIL_SECONDS:g} s a mailed code are" if planned.mailed_codes else " is"
    assumed = f"{each}{' is' if planned.is_simulated else mails} assumed before the first run"
    basis = f"{each} as in {pace.source}" if pace.source else assumed
    lasts = f"about {duration(planned.seconds)}: {basis}"
    if planned.is_simulated:
        return f"{lasts}; [clock] moves the target's time, so that no wait takes any"
    return f"{lasts}; waits overlap, and make it last {planned.minutes:g} min at least"


def _sign_ins(planned: RunPlan) -> str:
    if not planned.sign_ins:
        return "0"
    return f"{planned.sign_ins}, at most {LIMITS.login_initiations} in each window of {planned.window:g} s"


def _meant_to_fail(planned: RunPlan) -> Iterator[str]:
    """The sign-ins that are meant to be refused, which a portal may count against an account."""
    for address, counts in sorted(planned.accounts.items(), key=lambda row: row[0] == NOBODY):
        refused = [plural(counts[what], name) for what, name in MEANT_TO_FAIL.items() if counts.get(what)]
        if refused:
            whose = MADE_UP if address == NOBODY else address
            yield f"wrong      {' and '.join(refused)} for {whose}, on purpose"


def _mails(planned: RunPlan) -> str:
    """How many mails, and to whom."""
    by_address = {address: counts.get("mails", 0) for address, counts in planned.accounts.items()}
    ordered = sorted(by_address.items(), key=lambda row: (row[0] == NOBODY, -row[1]))
    parts = [f"{count} to {MADE_UP if address == NOBODY else address}" for address, count in ordered if count]
    if not planned.mails or not parts:
        return f"{planned.mails}"
    if sum(by_address.values()) > planned.mails:
        return f"{planned.mails} at most, by [limits] max_mails; without it {', '.join(parts)}"
    return f"{planned.mails}: {', '.join(parts)}"


STAYING = {
    "BACKUP-004": "new backup codes of [accounts.spare]",
    "INVITATION-020": "invitations that are answered",
}
"""What nothing restores, by a rule that cannot be tested without it."""


def _changes(planned: RunPlan) -> Iterator[str]:
    """How much it changes, and which cases do."""
    staying = " and ".join(what for rule, what in STAYING.items() if rule in planned.rules)
    but = f", but for {staying}" if staying else ""
    yield f"changes    {planned.changes}{f', which it restores{but}' if planned.changes else ''}"
    by_words: Counter[str] = Counter()
    for case, count in planned.changing.items():
        by_words[in_words(case).partition("[")[0]] += count
    ordered = by_words.most_common()
    yield from (f"  {count:>4}  {words}" for words, count in ordered[:MOST_CHANGES])
    if len(ordered) > MOST_CHANGES:
        rest = plural(len(ordered) - MOST_CHANGES, "case")
        yield f"        and those of {rest} more (--format json names each)"


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
    if planned.unmeasured:
        cases = plural(len(planned.unmeasured), "case")
        yield f"{cases} not measured yet, whose requests are not counted."
