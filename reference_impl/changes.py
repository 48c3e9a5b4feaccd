"""How a portal's plan may be changed before it is built; variants and faults are made of these."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from reference_impl.plan import Plan, Wrapper
from reference_impl.routes import Handler
from reference_impl.wrappers import Answer, Rewrite, Rewriting, Routed, Seen

Apply = Callable[[Plan], None]
"""A ``Change``, or a function that changes a plan by hand."""


@dataclass(frozen=True, slots=True)
class Change:
    """A change of a plan, and its operations; without operations it concerns the whole portal."""

    apply: Apply
    operations: tuple[str, ...] = ()

    def __call__(self, plan: Plan) -> None:
        self.apply(plan)

    def at(self, *operations: str) -> "Change":
        """The change as one of these operations, where it shows elsewhere than its verbs say."""
        return Change(self.apply, operations)


def chosen(**choices: Any) -> Change:
    def change(plan: Plan) -> None:
        plan.choices = replace(plan.choices, **choices)

    return Change(change)


def limited(**limits: Any) -> Change:
    def change(plan: Plan) -> None:
        plan.limits = replace(plan.limits, **limits)

    return Change(change)


def moved(family: str, state: str, trigger: str, to: str | None) -> Change:
    """Another row of a state table; None takes the row out."""

    def change(plan: Plan) -> None:
        plan.moves[family].pop((state, trigger), None)
        if to is not None:
            plan.moves[family][state, trigger] = to

    return Change(change)


def row(operation: str, **columns: Any) -> Change:

    def change(plan: Plan) -> None:
        plan.rows[operation] = replace(plan.rows[operation], **columns)

    return Change(change, (operation,))


def handled(operation: str, around: Callable[[Handler], Handler]) -> Change:
    """Another handler, made from the one that stands in the row."""

    def change(plan: Plan) -> None:
        plan.rows[operation] = replace(plan.rows[operation], handler=around(plan.rows[operation].handler))

    return Change(change, (operation,))


def refused_with(name: str, **columns: Any) -> Change:
    """Another code or status in a row of the errors."""

    def change(plan: Plan) -> None:
        plan.errors[name] = replace(plan.error_table()[name], **columns)

    return Change(change)


def rewritten(rewriting: Rewriting, *operations: str) -> Change:
    """JSON answers of these operations (of all, where none is named) pass through a function."""

    def change(plan: Plan) -> None:
        plan.rewrites.append(lambda app: Rewrite(app, rewriting, frozenset(operations)))

    return Change(change, operations)


def data_rewritten(rewriting: Callable[[Any], Any], *operations: str) -> Change:
    """The data of successes passes through a function that gives the data to send."""

    def of_success(seen: Seen, answer: Answer) -> None:
        if answer.status == 200 and isinstance(answer.body, dict) and answer.body.get("success"):
            answer.body["data"] = rewriting(answer.body["data"])

    return rewritten(of_success, *operations)


def wrapped(wrapper: Wrapper, *operations: str) -> Change:
    """An ASGI wrapper around the requests of these operations (of all, where none is named)."""

    def change(plan: Plan) -> None:
        plan.wrappers.append(
            lambda app: Routed(app, wrapper(app), operations) if operations else wrapper(app)
        )

    return Change(change, operations)


def title_cased(plan: Plan) -> None:
    plan.title_case = True


def together(*changes: Apply) -> Change:
    """Combines several changes in order, and joins their operations."""
    operations = (name for change in changes if isinstance(change, Change) for name in change.operations)

    def change(plan: Plan) -> None:
        for inner in changes:
            inner(plan)

    return Change(change, tuple(dict.fromkeys(operations)))
