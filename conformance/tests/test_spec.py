"""The specification as data: whole, without doubles, and the same as the reference portal read it."""

from __future__ import annotations

import tomllib
from collections import Counter
from importlib.resources import files

import pytest

import conformance.judging  # noqa: F401 - it reads every file of checks
from conformance.checks import CHECKS, READINGS
from conformance.judging.fields import requirements_of
from conformance.spec import (
    BY_KEY,
    CONSTANT_LISTS,
    OPERATIONS,
    REQUIREMENTS,
    Operation,
    Requirement,
    operation_of,
)
from conformance.spec.requests import REQUESTS
from conformance.spec.requirements import CHAPTERS
from conformance.spec.resources import RESOURCES
from conformance.spec.tables import CODED_FIELDS, CONSTANTS, ERRORS, LIMITS, STATES
from reference_impl import enumerations, errors, limits
from reference_impl.choices import Choices
from reference_impl.routes import ROWS

REFERENCE = {row.name: row for row in ROWS}
STATEMENTS = " ".join(row.statement for row in REQUIREMENTS.values())


# Operations.


def test_there_are_88_operations() -> None:
    assert len(OPERATIONS) == len(BY_KEY) == 88


def test_the_reference_portal_has_the_same_endpoints_in_the_same_order() -> None:
    assert [row.key for row in OPERATIONS] == [row.name for row in ROWS]


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda row: row.key)
def test_the_reference_portal_reads_each_endpoint_alike(operation: Operation) -> None:
    row = REFERENCE[operation.key]
    assert (row.auth == "none") == operation.is_prelogin
    assert row.sealed == operation.encrypted
    assert bool(row.bot) == operation.bot_challenge


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda row: row.key)
def test_each_operation_is_named_by_a_must(operation: Operation) -> None:
    assert any(operation.key in row.operations for row in REQUIREMENTS.values() if row.level == "must")


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda row: row.key)
def test_each_operation_names_models_that_exist(operation: Operation) -> None:
    assert operation.data is None or operation.data.removesuffix("[]") in RESOURCES
    assert operation.request is None or operation.request in REQUESTS


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda row: row.key)
def test_a_path_leads_back_to_its_operation(operation: Operation) -> None:
    path = operation.url(**dict.fromkeys(operation.parameters, "4f-1"))
    assert operation_of(operation.method, path) == operation
    assert operation_of(operation.method, f"/prefix{path}/") == operation


@pytest.mark.parametrize(
    "method, path",
    [
        ("GET", "/other"),
        ("PUT", "/web/v1/system/roles"),
        ("GET", "/web/v1/system/roles/a/b"),
        ("GET", "/web/v1/system/roles//permissions"),
        ("GET", "/web/v1/system/roles/a/permissions/b"),
        ("POST", "/web/v1/system/roles/a"),
    ],
)
def test_any_other_path_is_none_of_them(method: str, path: str) -> None:
    assert operation_of(method, path) is None


# Requirements.


def test_no_row_is_lost_or_doubled() -> None:
    folder = files("conformance.spec").joinpath("requirements.d")
    rows = [
        row
        for chapter in CHAPTERS
        for row in tomllib.loads(folder.joinpath(f"{chapter}.toml").read_text())["requirement"]
    ]
    assert [row["id"] for row in rows] == list(REQUIREMENTS)
    assert {file.name for file in folder.iterdir()} == {f"{chapter}.toml" for chapter in CHAPTERS}


@pytest.mark.parametrize("row", REQUIREMENTS.values(), ids=lambda row: row.id)
def test_a_requirement_says_what_it_must(row: Requirement) -> None:
    chapter, _, number = row.id.rpartition("-")
    assert chapter.isupper()
    assert len(number) == 3
    assert row.section
    assert row.statement.endswith(".")
    assert row.level in ("must", "should", "open")


@pytest.mark.parametrize(
    "row",
    [row for row in REQUIREMENTS.values() if row.level == "open" and not row.untestable],
    ids=lambda row: row.id,
)
def test_what_is_open_has_a_reading(row: Requirement) -> None:
    assert row.reading


def test_no_two_requirements_share_a_reading() -> None:
    readings = Counter(row.reading for row in REQUIREMENTS.values() if row.reading)
    assert [key for key, times in readings.items() if times > 1] == []


def test_only_what_is_open_has_a_reading() -> None:
    assert {row.level for row in REQUIREMENTS.values() if row.reading} == {"open"}


def test_every_check_reading_and_field_names_a_requirement() -> None:
    named = {row.requirement for row in CHECKS}
    for model in RESOURCES.values():
        named |= requirements_of(model)
    assert named <= set(REQUIREMENTS)
    assert {row.key for row in READINGS} <= {row.reading for row in REQUIREMENTS.values()}


# Tables, compared with how the reference portal read them.


@pytest.mark.parametrize("suffix", CONSTANT_LISTS)
def test_each_list_of_constants_has_the_codes_that_were_seen(suffix: str) -> None:
    seen = {code.code: code.value for code in enumerations.CONSTANTS[suffix] if code.shown}
    assert CONSTANTS[suffix] == seen
    assert all(code in STATEMENTS and str(value) in STATEMENTS for code, value in CONSTANTS[suffix].items())


def test_each_list_of_constants_has_its_endpoint() -> None:
    assert set(CONSTANT_LISTS) == set(CONSTANTS) == set(enumerations.CONSTANTS)
    assert all(row.endpoint in BY_KEY for row in CONSTANT_LISTS.values())


def test_the_values_of_states_are_those_of_the_constants() -> None:
    values = {value: code for family in CONSTANTS.values() for code, value in family.items()}
    known = [(code, value) for family in STATES.values() for code, value in family.items() if value in values]
    assert known == [(values[value], value) for _, value in known]


@pytest.mark.parametrize("family", STATES)
def test_each_state_stands_in_a_requirement(family: str) -> None:
    assert all(f"{code} {value}" in STATEMENTS for code, value in STATES[family].items())


def test_no_value_belongs_to_two_codes_of_a_family() -> None:
    for family in [*CONSTANTS.values(), *STATES.values(), *CODED_FIELDS.values()]:
        assert len(set(family.values())) == len(family)


@pytest.mark.parametrize("row", ERRORS, ids=lambda row: row.code)
def test_each_error_code_stands_in_a_requirement_and_in_the_reference_portal(row: object) -> None:
    code, statuses = getattr(row, "code"), getattr(row, "statuses")  # noqa: B009
    assert f"`{code}`" in STATEMENTS
    theirs = errors.table(Choices())[code]
    assert theirs.code == code
    assert not statuses or theirs.status in statuses


def test_the_limits_are_the_reference_portals() -> None:
    theirs = limits.Limits()
    ours = {
        "login_initiations": LIMITS.login_initiations,
        "login_session": LIMITS.login_session,
        "mfa_code": LIMITS.mfa_code,
        "mfa_cooldown": LIMITS.mfa_cooldown,
        "access_token": LIMITS.access_token,
        "email_max": LIMITS.email_max,
        "password_min": LIMITS.password_min,
        "password_max": LIMITS.password_max,
        "default_page_size": LIMITS.size,
        "default_range_days": LIMITS.order_range_days,
    }
    assert ours == {name: getattr(theirs, name) for name in ours}


@pytest.mark.parametrize("number", ["Ten", 300, 60, 3600, 255, 8, 128, 20, 30])
def test_each_limit_stands_in_a_requirement(number: object) -> None:
    assert (
        str(number)
        in STATEMENTS.replace(",", " ").replace(".", " ").replace("`", " ").replace(")", " ").split()
    )
