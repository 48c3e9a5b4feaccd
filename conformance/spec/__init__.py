"""The specification as data: requirements, operations, resources, enumerations, errors and limits."""

from conformance.spec.operations import (
    BY_KEY,
    IMPACTS,
    OPERATIONS,
    Impact,
    Operation,
    operation,
    operation_of,
)
from conformance.spec.requirements import (
    REQUIREMENTS,
    Level,
    Requirement,
    near_ids,
    present_id,
    present_signature,
)
from conformance.spec.tables import CONSTANT_LISTS
