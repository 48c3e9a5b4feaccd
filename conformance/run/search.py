"""Between Hypothesis and a run: examples are tried quietly, made smaller, and only the smallest is told."""

from __future__ import annotations

import contextlib
import functools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, TypeVar

from hypothesis import HealthCheck, Phase, Verbosity, given, settings
from hypothesis import seed as seeded
from hypothesis.configuration import set_hypothesis_home_dir
from hypothesis.errors import Flaky, HypothesisException, Unsatisfiable, UnsatisfiedAssumption
from hypothesis.internal.conjecture.providers import AVAILABLE_PROVIDERS, HypothesisProvider
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test
from hypothesis.strategies import SearchStrategy

from conformance.errors import CannotSignIn, NotAllowed, OutOfBudget, OutOfTime, RateLimited, Untestable
from conformance.judging import Judge, watch
from conformance.run.session import RunSession
from conformance.traffic.exchange import Exchange, Json
from conformance.verdicts.findings import (
    HELD,
    Comparison,
    Contradiction,
    Finding,
    Ledger,
    Verdict,
    finding_of,
)
from conformance.verdicts.verify import Verify

T = TypeVar("T")

FOLDER = "examples"
"""Where under a run's ``--out`` Hypothesis keeps its own files, if it writes any."""

STRIKES = 3
"""So many examples of a search may come to nothing for reasons beside the point; the next ends it."""

TOLD_AT_MOST = 40
"""Exchanges of an example that its finding names: the last ones."""

MOST_RECORDS = 20_000
"""Records in the answers of one example, which stay in memory until it is over; with more it ends."""

FINAL = (CannotSignIn, NotAllowed, OutOfBudget, OutOfTime, RateLimited)
"""Reasons that hold for the next example as well."""


@dataclass(frozen=True)
class Effort:
    """How much a search may do. ``requests`` are those that making one failing example smaller may take;
    ``rounds`` is how many different contradictions it looks for, at the most."""

    examples: int
    runs: int
    steps: int
    requests: int
    rounds: int


EFFORTS: Mapping[str, Effort] = MappingProxyType(
    {
        "quick": Effort(examples=8, runs=4, steps=12, requests=150, rounds=2),
        "normal": Effort(examples=50, runs=40, steps=20, requests=600, rounds=4),
        "thorough": Effort(examples=150, runs=45, steps=25, requests=1500, rounds=6),
    }
)
"""By ``--effort``: examples of a property; runs of a state machine, and the steps of each."""


class Contradicted(Exception):
    """An example shows what the run does not know yet. To be raised and caught by this module only."""


class Ended(BaseException):
    """Ends a search from within an example, past Hypothesis, which takes any Exception for what it seeks.

    ``cause`` None: the search has had its share of requests.
    """

    def __init__(self, cause: BaseException | None) -> None:
        super().__init__(str(cause))
        self.cause = cause


class Apart(Ledger):
    """The ledger of one example: it keeps what contradicts, for the run's ledger to be told or not."""

    def __init__(self, ledger: Ledger) -> None:
        super().__init__(ledger.requirements)
        self.contradictions: list[tuple[str, Contradiction]] = []

    def decide(self, requirement: str, comparison: Comparison, *, case: str | None = None) -> Finding | None:
        finding = super().decide(requirement, comparison, case=case)
        if finding is not None and isinstance(comparison, Contradiction):
            self.contradictions.append((requirement, comparison))
        return finding


class Trial:
    """One example of a search: its steps in words, its exchanges, and its contradictions."""

    def __init__(self, search: Search) -> None:
        self.search = search
        self.steps: list[str] = []
        self.moves: list[tuple[str, dict[str, Any]]] = []
        self.is_spoiled = False
        self.exchanges: list[Exchange] = []
        self.held: list[str] = []
        self.is_over = False
        self.length = 0
        self._records = 0
        self.apart = Apart(search.ledger)
        self._judge = watch(self.apart, judge=Judge())

    def step(self, words: str) -> None:
        """Notes what is done now, so that the example can be told."""
        self.steps.append(words)

    def take(self, exchange: Exchange) -> None:
        self.exchanges.append(exchange)
        self.search.requests += 1
        self._judge(exchange)
        self._records += records_in(exchange.data)
        if self._records > MOST_RECORDS:
            self.spoil()

    def verify(self, requirement: str, *comparisons: Comparison) -> bool:
        """Decides a requirement within the example, as ``Verify`` does; says whether all comparisons hold.

        ValueError: the case does not declare it.
        """
        self.search.claim(requirement)
        for comparison in comparisons:
            self.apart.decide(requirement, comparison)
        held = all(comparison is HELD for comparison in comparisons)
        if held:
            self.held.append(requirement)
        else:
            self.spoil()
        return held

    def spoil(self) -> None:
        """Ends the example with this step: the recorded state of the target is no longer reliable."""
        self.is_spoiled = True

    def settle(self) -> None:
        """Raises Contradicted where the example so far shows what is sought."""
        if self.search.seeks(self):
            raise Contradicted

    def news(self) -> dict[str, tuple[str, Contradiction]]:
        """What it contradicts, FAIL or WARN, that the run does not know yet; by signature."""
        contradictions: dict[str, tuple[str, Contradiction]] = {}
        for requirement, contradiction in self.apart.contradictions:
            finding = finding_of(self.apart.requirements[requirement], contradiction)
            weighs = finding.verdict in (Verdict.FAIL, Verdict.WARN)
            if weighs and not self.search.ledger.knows(finding.signature):
                contradictions.setdefault(finding.signature, (requirement, contradiction))
        return contradictions


class Search:
    """Looks for an example that contradicts the specification, on behalf of one case.

    What it sends is logged as it goes, but judged apart. An example that contradicts nothing new is then
    handed to the run's own judge; of those that do, only the smallest is told, with all of its exchanges.
    """

    def __init__(self, run: RunSession, verify: Verify, *, effort: str, seed: int) -> None:
        self.effort = EFFORTS[effort]
        self.ledger = run.ledger
        self.claim = verify.claim
        self.case = verify.case
        self.requests = 0
        self._run = run
        self._verify = verify
        self._how = f"--effort {effort} --seed {seed}"
        self._seed = seed
        self._strikes = 0
        self._sought: str | None = None
        self._smallest: Trial | None = None
        self._since = 0
        set_hypothesis_home_dir(run.options.out / FOLDER)

    def over(
        self, drawn: SearchStrategy[T], attempt: Callable[[Trial, T], None], *, examples: int | None = None
    ) -> None:
        """Tries what is drawn. ``attempt`` acts, and decides by ``trial.verify``.

        Raises what keeps the search from going on: Untestable, SuiteError, or a bug of the case.
        """

        def once(value: T) -> None:
            trial = self.begin()
            trial.step(shortly(value))
            with self.guarding(trial):
                attempt(trial, value)
            self.end(trial)

        def run(chosen: settings, seed: int) -> None:
            chosen(seeded(seed)(given(drawn)(once)))()

        self._rounds(run, examples or self.effort.examples, lambda: None)

    def through(self, new_machine: Callable[[Trial], Machine]) -> None:
        """Takes the moves of a state machine in any order. Raises as ``over`` does."""

        def factory() -> Machine:
            trial = self.begin()
            with self.guarding(trial):
                return new_machine(trial)

        def run(chosen: settings, seed: int) -> None:
            # Moves are taken away below, which needs fewer requests than Hypothesis does.
            machine: Any = seeded(seed)(factory)
            run_state_machine_as_test(machine, settings=settings(chosen, phases=(Phase.generate,)))

        self._rounds(run, self.effort.runs, lambda: self._lessen(factory))

    def _lessen(self, factory: Callable[[], Machine]) -> None:
        """Takes moves away, many at a time and then one by one, as long as the rest shows the same."""
        assert self._smallest is not None
        number = len(self._smallest.moves)
        while number := number // 2:
            start = len(self._smallest.moves) - number
            while start >= 0:
                moves = self._smallest.moves
                self._is_shown(factory, [*moves[:start], *moves[start + number :]])
                start = min(start, len(self._smallest.moves)) - number
        for index in range(len(self._smallest.moves)):
            for key in self._smallest.moves[index][1] if index < len(self._smallest.moves) else ():
                moves = self._smallest.moves
                name, arguments = moves[index]
                simpler = {**arguments, key: _simplest(arguments[key])}
                if simpler != arguments and simpler[key] != "":
                    self._is_shown(factory, [*moves[:index], (name, simpler), *moves[index + 1 :]])

    def _is_shown(self, factory: Callable[[], Machine], moves: Sequence[tuple[str, dict[str, Any]]]) -> bool:
        """Whether these moves show what is sought; one that cannot be made is passed over."""
        try:
            machine = factory()
        except UnsatisfiedAssumption:
            return False
        try:
            for name, arguments in moves:
                method = getattr(machine, name)
                if method.when is None or method.when(machine):
                    method(**arguments)
        except Contradicted:
            return True
        except UnsatisfiedAssumption:
            return False
        finally:
            machine.teardown()
        return False

    # --- one example

    def begin(self) -> Trial:
        """From now on what is sent belongs to a new example. Ended: the search has had its share."""
        if self._smallest is not None and self.requests - self._since > self.effort.requests:
            raise Ended(None)
        trial = Trial(self)
        self._run.divert(trial.take)
        return trial

    @contextmanager
    def guarding(self, trial: Trial) -> Iterator[None]:
        """Within it an example acts. What Hypothesis would take for a contradiction, and is none, ends the
        search."""
        try:
            yield
            trial.settle()
            if trial.is_spoiled:
                self.end(trial)
                raise UnsatisfiedAssumption
        except (Contradicted, HypothesisException):
            raise
        except Untestable as reason:
            trial.settle()
            self.end(trial)
            self._strikes += 1
            if self._strikes > STRIKES or isinstance(reason, FINAL):
                raise Ended(reason) from reason
            raise UnsatisfiedAssumption from reason  # which says nothing of the other examples
        except Exception as bug:
            raise Ended(bug) from bug

    def end(self, trial: Trial) -> None:
        """The example is over: the run's own judge sees it, unless it is one that is made smaller."""
        self._run.resume()
        self.ledger.errors.update(trial.apart.errors)
        if trial.is_over or trial.news():
            return
        trial.is_over = True
        for exchange in trial.exchanges:
            self._run.judge_exchange(exchange)
        for requirement in trial.held:
            self._verify(requirement, HELD)

    def seeks(self, trial: Trial) -> bool:
        """Whether an example shows what is being made smaller, or anything new while nothing is."""
        news = trial.news()
        if self._sought is None and news:
            self._sought = next(iter(news))
            self._since = self.requests
        if self._sought not in news:
            return False
        trial.length = len(trial.exchanges)
        if self._smallest is None or trial.length <= self._smallest.length:
            self._smallest = trial
        return True

    # --- the whole search

    def _rounds(
        self, run: Callable[[settings, int], None], examples: int, lessen: Callable[[], None]
    ) -> None:
        for number in range(self.effort.rounds):
            self._sought = self._smallest = None
            ended = self._ended_by(functools.partial(self._once, run, examples, number))
            if self._smallest is not None and ended is None:
                ended = self._ended_by(lessen)
            if self._smallest is not None:
                self._tell(self._smallest)
            if ended is not None:
                raise ended
            if self._smallest is None:
                return

    def _ended_by(self, searching: Callable[[], None]) -> BaseException | None:
        """Runs a part of the search; returns its cause of an early end, except the share of requests."""
        try:
            searching()
        except Ended as ended:
            return ended.cause
        finally:
            self._run.resume()
        return None

    def _once(self, run: Callable[[settings, int], None], examples: int, number: int) -> None:
        chosen = settings(
            backend=RandomProvider.__name__,
            max_examples=examples,
            stateful_step_count=self.effort.steps,
            database=None,
            derandomize=False,
            deadline=None,
            phases=(Phase.generate, Phase.shrink),
            suppress_health_check=list(HealthCheck),
            verbosity=Verbosity.quiet,
            print_blob=False,
            report_multiple_bugs=False,
        )
        # Flaky: a target that does not answer alike twice; what was seen was seen.
        # Unsatisfiable: for what the run knows already every example comes to nothing.
        with contextlib.suppress(Contradicted, Flaky, Unsatisfiable):
            run(chosen, self._seed + number)

    def _tell(self, smallest: Trial) -> None:
        """Puts what the smallest example contradicts into the run, with all that led there."""
        steps = "; ".join(smallest.steps)
        for requirement, contradiction in smallest.news().values():
            message = finding_of(self.ledger.requirements[requirement], contradiction).message
            before = [each for each in smallest.exchanges if each.n < contradiction.exchange.n]
            explained = replace(
                contradiction,
                also=tuple(before[-TOLD_AT_MOST:]),
                message=f"{message} (smallest example found with {self._how}: {steps})",
            )
            finding = self.ledger.decide(requirement, explained, case=self.case)
            if finding is not None:
                self._run.new_findings.append(finding)


# State machines.


class Machine(RuleBasedStateMachine):
    """A state machine whose moves are told, settled after each step, and cleaned up after at the end."""

    def __init__(self, trial: Trial) -> None:
        super().__init__()
        self.trial = trial

    def teardown(self) -> None:
        try:
            self.clean_up()
        except Untestable:
            # What is left stays in the ledger of changes, and the run's end tries again.
            pass
        except Exception as bug:
            raise Ended(bug) from bug
        self.trial.search.end(self.trial)

    def clean_up(self) -> None:
        """Puts back what the moves changed."""


def move(
    when: Callable[[Any], object] | None = None, **drawn: SearchStrategy[Any]
) -> Callable[[Callable[..., None]], Any]:
    """A rule of a Machine, possible where ``when`` holds; noted with its arguments, then settled."""

    def made(method: Callable[..., None]) -> Any:
        @functools.wraps(method)
        def told(self: Machine, **arguments: Any) -> None:
            chosen = {name: value for name, value in arguments.items() if value != _simplest(value)}
            words = ", ".join(f"{name}={shortly(value)}" for name, value in chosen.items())
            self.trial.step(f"{method.__name__}({words})")
            self.trial.moves.append((method.__name__, arguments))
            with self.trial.search.guarding(self.trial):
                method(self, **arguments)

        ruled: Any = rule
        possible = ruled(**drawn)(told)
        possible = possible if when is None else precondition(lambda self: bool(when(self)))(possible)
        possible.when = when
        return possible

    return made


def _simplest(value: Any) -> Any:
    """The value that says least: of a text the empty one, which is none of those drawn."""
    return type(value)() if isinstance(value, bool | int | float | str) else value


def records_in(data: Json) -> int:
    """How many records the data of an answer list: it is a list, or has lists in its fields."""
    lists = data.values() if isinstance(data, dict) else (data,)
    return sum(len(each) for each in lists if isinstance(each, list))


def shortly(value: object, limit: int = 300) -> str:
    """A drawn value as one line of a finding."""
    text = (
        json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict | bool | None) else str(value)
    )
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text)} characters)"


class RandomProvider(HypothesisProvider):
    """Draws at random, and nothing else: neither what stands in the loaded modules, on which examples
    would then depend, nor the many variations of one example that Hypothesis makes by itself."""

    def _maybe_draw_constant(self, *of: Any, **further: Any) -> Any:
        return None


AVAILABLE_PROVIDERS[RandomProvider.__name__] = RandomProvider
