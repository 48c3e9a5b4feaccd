"""The judge: applies every check to every exchange, with or without a cache of its verdicts."""

from collections.abc import Callable, Iterable

from conformance.checks.registry import CHECKS, Check
from conformance.descriptions import NO_DESCRIPTIONS, Descriptions
from conformance.judging.cache import CachingJudge
from conformance.judging.described import judge_described
from conformance.judging.judge import Judge
from conformance.traffic.exchange import Exchange
from conformance.verdicts.deviations import DescribedTraffic
from conformance.verdicts.findings import Finding, Ledger
from conformance.verdicts.verdicts import Verdicts

__all__ = ["AnyJudge", "Judge", "Verdicts", "Watch", "judge_of", "watch"]


AnyJudge = Judge | CachingJudge
"""A judge, with or without a cache."""

Watch = Callable[[Exchange], list[Finding]]
"""Judges an exchange into a ledger, and returns what it contradicts."""


def judge_of(*, no_cache: bool = False, model: bool = True, own: Iterable[Check] = ()) -> AnyJudge:
    """A fresh judge. ``no_cache`` is a doubter's switch: each exchange is judged anew, with equal results.

    ``model``: also compares what several answers say of the same thing, which takes about as long again.
    ``own``: the checks of the user's own rules.
    """
    checks = [check for check in CHECKS if model or not check.is_of_model]
    judge = Judge(checks=[*checks, *own])
    return judge if no_cache else CachingJudge(judge)


def watch(
    ledger: Ledger,
    *,
    judge: AnyJudge | None = None,
    case: Callable[[], str | None] | None = None,
    descriptions: Descriptions = NO_DESCRIPTIONS,
) -> Watch:
    """A function that judges each exchange into the ledger; ``case`` gives the case that acts. What differs
    from ``descriptions`` stands in the ledger's deviations."""
    take, verdicts_of = ledger.take, (judge_of() if judge is None else judge).judge
    if case is None and not descriptions:
        return lambda exchange: take(verdicts_of(exchange))
    endpoints = dict.fromkeys((row.key for row in descriptions.operations), False)
    ledger.described = DescribedTraffic(endpoints, descriptions.notes)

    def judge_both(exchange: Exchange) -> list[Finding]:
        findings = take(verdicts_of(exchange), case=None if case is None else case())
        return findings + judge_described(descriptions, exchange, ledger) if descriptions else findings

    return judge_both
