"""What traffic shows that a description lacks, and what the description has that no traffic shows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from conformance.descriptions import Descriptions
from conformance.descriptions.operations import DescribedOperation
from conformance.learning.learner import LearnedOperation, Learner


def lacking(learner: Learner, descriptions: Descriptions) -> Iterator[str]:
    """What traffic shows and no description has, a line each."""
    for operation in _ordered(learner):
        described = descriptions.operation_of(operation.method, operation.example)
        if described is None:
            yield f"{operation.key}: {_times(operation.witnesses)}, statuses {_listed(operation.answers)}"
            continue
        for status, answer in sorted(operation.answers.items()):
            if described.answer_for(status) is None:
                yield f"{described.key}: status {status}, {_times(answer.witnesses)}"
        names = {row.name for row in described.parameters if row.place == "query"}
        for name, shape in operation.query.items():
            if name not in names:
                yield f"{described.key}: query parameter {name}, {_times(shape.witnesses)}"


def unseen(learner: Learner, descriptions: Descriptions) -> Iterator[str]:
    """What descriptions have and no traffic shows, a line each."""
    by_description: dict[DescribedOperation, list[LearnedOperation]] = {}
    for operation in learner.operations.values():
        described = descriptions.operation_of(operation.method, operation.example)
        if described is not None:
            by_description.setdefault(described, []).append(operation)
    for described in descriptions.operations:
        traffic = by_description.get(described)
        if traffic is None:
            yield described.key
            continue
        yield from (f"{described.key}: {part}" for part in _unseen_parts(described, traffic))


def _unseen_parts(described: DescribedOperation, traffic: list[LearnedOperation]) -> Iterator[str]:
    answered = {str(status) for operation in traffic for status in operation.answers}
    yield from (f"status {name}" for name in described.answers if name.isdecimal() and name not in answered)
    sent = {name for operation in traffic for name in operation.query}
    for row in described.parameters:
        if row.place == "query" and row.name not in sent:
            yield f"query parameter {row.name}"


def _ordered(learner: Learner) -> list[LearnedOperation]:
    return sorted(learner.operations.values(), key=lambda each: (each.path, each.method))


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"


def _listed(statuses: Iterable[int]) -> str:
    return ", ".join(map(str, sorted(statuses)))
