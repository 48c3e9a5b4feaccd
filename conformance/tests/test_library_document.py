"""Each example of ``docs/library.md`` runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

DOCUMENT = Path(__file__).parents[2] / "docs" / "library.md"
EXAMPLES = dict(
    re.findall(r"```python\n# ([\w.]+)\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)
)
MY_PORTAL = """
import httpx
from conformance.target.bundled import in_process
from conformance.tests.traffic import envelope

target = in_process(faults=FAULTS)
asgi_app, profile = target.app, target.profile
app = httpx.MockTransport(
    lambda request: httpx.Response(200, json=envelope(data={"keyId": "k", "publicKey": "AAAA"}) | CHANGES)
)
"""


def test_every_example_has_a_file_of_its_own() -> None:
    assert len(EXAMPLES) == DOCUMENT.read_text(encoding="utf-8").count("```python")
    assert {"test_own.py", "judge.py", "test_cases.py", "middleware.py", "parts.py"} == set(EXAMPLES)


@pytest.mark.parametrize("name", ["test_own.py", "test_cases.py"])
def test_an_example_of_a_test_passes_with_a_lawful_portal(pytester: pytest.Pytester, name: str) -> None:
    pytester.makepyfile(my_portal="FAULTS, CHANGES = [], {}\n" + MY_PORTAL)
    pytester.path.joinpath(name).write_text(EXAMPLES[name], encoding="utf-8")

    pytester.runpytest_subprocess(name).assert_outcomes(passed=1)


def test_the_example_with_portal_judge_fails_with_a_faulty_portal(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(my_portal='FAULTS, CHANGES = [], {"success": "yes"}\n' + MY_PORTAL)
    pytester.path.joinpath("test_own.py").write_text(EXAMPLES["test_own.py"], encoding="utf-8")

    pytester.runpytest_subprocess("test_own.py").assert_outcomes(failed=1)


@pytest.mark.parametrize("name", ["judge.py", "middleware.py", "parts.py"])
def test_an_example_of_a_program_ends_without_an_error(pytester: pytest.Pytester, name: str) -> None:
    pytester.path.joinpath("today.jsonl").touch()
    pytester.path.joinpath(name).write_text(EXAMPLES[name], encoding="utf-8")

    assert pytester.runpython(pytester.path / name).ret == 0
