"""The vocabulary that rules of the user's own are written in, as those of the suite are."""

from conformance.checks.records import moment, records
from conformance.checks.registry import Memory, Selection
from conformance.rules.rule import answers, check, errors, successes
from conformance.traffic.exchange import ABSENT, Exchange, Json
from conformance.traffic.values import is_integer, is_number
from conformance.verdicts.comparisons import equal, holds, is_error, meets, one_of, same
from conformance.verdicts.findings import Comparison
