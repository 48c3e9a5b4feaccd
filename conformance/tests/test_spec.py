"""The specification as data: whole, without doubles, and the same as the reference portal read it."""

from __future__ import annotations

import re
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
    Requirement,
    operation_of,
    resources,
)
from conformance.spec.endpoints import LOGIN_COMPLETE, TOKEN_REFRESH
from conformance.spec.places import place_of
from conformance.spec.requests import REQUESTS
from conformance.spec.requirements import CHAPTERS
from conformance.spec.resources import RESOURCES
from conformance.spec.tables import CODED_FIELDS, CONSTANTS, ERRORS, LIMITS, STATES
from reference_impl import enumerations, errors, limits
from reference_impl.choices import Choices
from reference_impl.routes import ROWS

STATEMENTS = " ".join(row.statement for row in REQUIREMENTS.values())


# Operations.


def test_the_reference_portal_reads_each_of_the_88_endpoints_alike() -> None:
    assert len(OPERATIONS) == len(BY_KEY) == 88
    ours = [(row.key, row.is_prelogin, row.encrypted, row.bot_challenge) for row in OPERATIONS]

    assert ours == [(row.name, row.auth == "none", row.sealed, bool(row.bot)) for row in ROWS]


def test_each_operation_is_named_by_a_must() -> None:
    named = {key for row in REQUIREMENTS.values() if row.level == "must" for key in row.operations}

    assert set(BY_KEY) <= named


def test_each_operation_names_models_that_exist() -> None:
    assert {row.data.removesuffix("[]") for row in OPERATIONS if row.data} <= set(RESOURCES)
    assert {row.request for row in OPERATIONS if row.request} <= set(REQUESTS)


@pytest.mark.parametrize("form", ["{}", "/prefix{}/"])
def test_a_path_leads_back_to_its_operation(form: str) -> None:
    paths = [form.format(row.url(**dict.fromkeys(row.parameters, "4f-1"))) for row in OPERATIONS]

    found = [operation_of(row.method, path) for row, path in zip(OPERATIONS, paths, strict=True)]
    assert found == list(OPERATIONS)


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


def test_every_file_of_requirements_is_read() -> None:
    folder = files("conformance.spec").joinpath("requirements.d")

    assert {file.name for file in folder.iterdir()} == {f"{chapter}.toml" for chapter in CHAPTERS}


def test_every_operation_list_and_field_has_its_requirement() -> None:
    models = [each for each in vars(resources).values() if isinstance(each, type(resources.Resource))]
    fields = {id for model in models for id in requirements_of(model)}
    lists = {id for row in CONSTANT_LISTS.values() for id in (row.values, row.presence)}
    operations = {row.requirement for row in OPERATIONS}

    assert sorted((fields | lists | operations) - REQUIREMENTS.keys()) == []


@pytest.mark.parametrize(
    "id, statement",
    [
        ("INVITATION-012", "`acceptedAt`: a string that is an ISO 8601 date and time, or null or left out."),
        ("TOKEN-004", "The result of login complete has `accountStatus`: anything, or null or left out."),
        ("PAGE-020", "The account page has `accounts`: an array of Account."),
        ("CHANNEL-008", "of the category EMAIL has `emailConfig`: an object with the mail settings."),
        ("CONSTANT-026", "EMAIL has the value 80010101, wherever they are listed."),
        ("CONSTANT-061", "`workspace-role-types` lists OWNER and CUSTOM."),
        (
            "OP-004",
            "`POST /web/v1/system/auth/logout` is offered and answers with a logout result as `data`.",
        ),
    ],
)
def test_a_statement_of_a_pattern_is_a_sentence(id: str, statement: str) -> None:
    assert REQUIREMENTS[id].statement.endswith(statement)


def test_a_field_is_stated_of_the_endpoints_that_show_it() -> None:
    assert REQUIREMENTS["TOKEN-001"].operations == (LOGIN_COMPLETE, TOKEN_REFRESH)
    assert len(REQUIREMENTS["CONSTANT-001"].operations) == 21


def _is_whole(row: Requirement) -> bool:
    chapter, _, number = row.id.rpartition("-")
    is_named = chapter.isupper() and len(number) == 3 and bool(row.section)
    return is_named and row.statement.endswith(".") and row.level in ("must", "should", "open")


def test_a_requirement_says_what_it_must() -> None:
    assert [row.id for row in REQUIREMENTS.values() if not _is_whole(row)] == []


def test_each_open_requirement_has_a_reading_of_its_own_and_no_other_has_one() -> None:
    testable = [row for row in REQUIREMENTS.values() if not row.untestable]
    readings = Counter(row.reading for row in REQUIREMENTS.values() if row.reading)

    assert [row.id for row in testable if bool(row.reading) is not (row.level == "open")] == []
    assert [key for key, times in readings.items() if times > 1] == []


def test_every_check_reading_and_field_names_a_requirement() -> None:
    named = {row.requirement for row in CHECKS}
    for model in RESOURCES.values():
        named |= requirements_of(model)
    assert named <= set(REQUIREMENTS)
    assert {row.key for row in READINGS} <= {row.reading for row in REQUIREMENTS.values()}


# Tables, compared with how the reference portal read them.


def test_each_list_of_constants_has_the_codes_that_were_seen() -> None:
    for suffix in CONSTANT_LISTS:
        seen = {code.code: code.value for code in enumerations.CONSTANTS[suffix] if code.shown}
        assert CONSTANTS[suffix] == seen
        assert [row for row in seen.items() if not all(str(part) in STATEMENTS for part in row)] == []


def test_each_list_of_constants_has_its_endpoint() -> None:
    assert set(CONSTANT_LISTS) == set(CONSTANTS) == set(enumerations.CONSTANTS)
    assert all(row.endpoint in BY_KEY for row in CONSTANT_LISTS.values())


def test_the_values_of_states_are_those_of_the_constants() -> None:
    values = {value: code for family in CONSTANTS.values() for code, value in family.items()}
    known = [(code, value) for family in STATES.values() for code, value in family.items() if value in values]
    assert known == [(values[value], value) for _, value in known]


def test_each_state_stands_in_a_requirement() -> None:
    states = [f"{code} {value}" for family in STATES.values() for code, value in family.items()]

    assert [state for state in states if state not in STATEMENTS] == []


def test_no_value_belongs_to_two_codes_of_a_family() -> None:
    for family in [*CONSTANTS.values(), *STATES.values(), *CODED_FIELDS.values()]:
        assert len(set(family.values())) == len(family)


def test_each_error_code_stands_in_a_requirement_and_in_the_reference_portal() -> None:
    theirs = errors.table(Choices())

    assert [row.code for row in ERRORS if f"`{row.code}`" not in STATEMENTS] == []
    assert [row.code for row in ERRORS if theirs[row.code].code != row.code] == []
    assert [row.code for row in ERRORS if row.statuses and theirs[row.code].status not in row.statuses] == []


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


def test_each_limit_stands_in_a_requirement() -> None:
    words = set(STATEMENTS.translate(str.maketrans(",.`)", "    ")).split())

    assert {"Ten", "300", "60", "3600", "255", "8", "128", "20", "30"} <= words


def test_a_must_stands_in_a_row_or_item_of_its_section() -> None:
    musts = [row for row in REQUIREMENTS.values() if row.level == "must"]
    of_a_section = [row.id for row in musts if place_of(row).rpartition(" › ")[2] == row.section]

    assert of_a_section == ["ENV-001", "OP-100"]


def test_a_rule_on_an_invalid_token_names_the_row_of_the_errors_that_states_it() -> None:
    """The items of Authentication say that a token is needed, the row 4010 that an invalid one is refused."""
    stated = re.compile(
        r"invalid token|token that is none|signature|`none`|refused once its lifetime|has expired"
    )
    rules = [row for row in REQUIREMENTS.values() if row.chapter == "AUTHN" and stated.search(row.statement)]

    assert len(rules) == 8
    assert [row.id for row in rules if not place_of(row).endswith(" and Errors › 4010")] == []


def test_a_limit_names_its_row() -> None:
    assert place_of(REQUIREMENTS["LIMIT-001"]) == "Limits › Login initiate rate"
