"""The image, the compose file, the action, the component and the hook work: tried without their engines."""

from __future__ import annotations

import ast
import json
import re
import shlex
import socket
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import packages_distributions, requires
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
import yaml

from conformance.cli.program import loaded
from conformance.tests.documents import blocks, commands
from conformance.tests.installation import ROOT, Installation, wheel
from conformance.tests.test_http_library import imports
from conformance.tests.test_profile_validation import ADMIN, PORTAL
from reference_impl import serve as reference

RULE = "CONSTANT-020"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CI_RUN = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
COMPONENT_HEAD, COMPONENT = (ROOT / "templates/conformance.yml").read_text(encoding="utf-8").split("\n---\n")
(HOOK,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))


@pytest.fixture
def portal(tmp_path: Path) -> Iterator[reference.Running]:
    """A portal, and the profile that fits it, in the folder of the test."""
    with reference.start(seed=1) as running:
        (tmp_path / "portal.toml").write_text(running.profile(), encoding="utf-8")
        yield running


def understood(words: list[str]) -> None:
    """Fails where the command line of the suite does not understand the words."""
    assert loaded(words[0]).make_context(words[0], words[1:]).args == []


# --- Dockerfile


def instructions() -> list[tuple[str, str]]:
    """The instructions of the Dockerfile, each in a line, without comments."""
    text = re.sub(r"^#.*\n", "", (ROOT / "Dockerfile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    lines = re.sub(r"\\\n\s*", "", text).splitlines()
    return [(line.split()[0], line.partition(" ")[2].strip()) for line in lines if line.strip()]


def last(name: str) -> str:
    return [rest for instruction, rest in instructions() if instruction == name][-1]


def health_check(port: int) -> list[str]:
    words = json.loads(last("HEALTHCHECK").partition("CMD ")[2])
    return [word.replace("8000", str(port)) for word in words]


def test_the_image_is_small_and_runs_as_a_user_without_rights() -> None:
    bases = [rest.split()[0] for name, rest in instructions() if name == "FROM"]
    order = [name for name, _ in instructions()]

    assert len(bases) == 2, "what builds is not in the image"
    assert all(base.endswith("-slim") for base in bases)
    assert last("USER").isdigit()
    assert int(last("USER")) > 0
    assert order.index("USER") < order.index("ENTRYPOINT")
    assert f"--uid {last('USER')} " in last("RUN")
    assert f"--owner conformance {last('WORKDIR')}" in last("RUN")


def test_the_image_is_built_without_tests_and_of_what_is_named_alone() -> None:
    everything, *rest = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()[1:]
    named = {line.removeprefix("!") for line in rest if line.startswith("!")}

    assert everything == "*"
    assert {name for name in named if not (ROOT / name).exists()} == set()
    assert "**/tests" in rest[len(named) :]


def test_the_image_is_built_of_all_that_the_wheel_is_built_of() -> None:
    build = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]
    copies = [rest.split()[:-1] for name, rest in instructions() if name == "COPY" and "--from" not in rest]
    copied = {word.rstrip("/") for words in copies for word in words}

    assert copied >= {"pyproject.toml", "README.md", *build["targets"]["wheel"]["only-include"]}


def test_the_image_installs_extras_that_exist_and_its_command_is_installed(
    installed: Installation, tmp_path: Path
) -> None:
    (line,) = [rest for name, rest in instructions() if name == "RUN" and "pip install" in rest]
    extras = re.findall(r"\.\[([\w,]+)\]", line)[0].split(",")
    entry, arguments = json.loads(last("ENTRYPOINT")), json.loads(last("CMD"))

    shown = installed.run(*entry, *arguments, folder=tmp_path)

    assert set(extras) <= set(PROJECT["optional-dependencies"])
    assert entry == list(PROJECT["scripts"])
    assert shown.returncode == 0
    assert shown.stdout.lstrip().startswith("Usage: portal-conformance")


def test_the_health_check_tells_whether_the_portal_answers(
    installed: Installation, portal: reference.Running, tmp_path: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        unused = free.getsockname()[1]

    healthy = installed.run(*health_check(int(portal.url.rpartition(":")[2])), folder=tmp_path)
    unhealthy = installed.run(*health_check(unused), folder=tmp_path)

    assert healthy.returncode == 0, healthy.stderr
    assert unhealthy.returncode == 1


# --- compose.yaml


def test_the_compose_file_runs_the_suite_against_the_reference_portal(
    installed: Installation, tmp_path: Path
) -> None:
    services = COMPOSE["services"]
    serve, run_words = (
        [word.replace("/work", str(tmp_path)) for word in services[name]["command"]]
        for name in ("portal", "conformance")
    )
    for command in (serve, run_words):
        understood(command)

    command = [str(installed.bin / "portal-conformance"), *(word.replace("8000", "0") for word in serve)]
    serving = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert serving.stdout is not None
        assert "answers at" in serving.stdout.readline()
        assert "profile" in serving.stdout.readline()
        words = ("portal-conformance", *run_words)
        run = installed.run(*words, folder=tmp_path, PORTAL_CONFORMANCE_ONLY=RULE)
    finally:
        serving.terminate()
        serving.communicate(timeout=30)

    assert run.returncode == 0, run.stdout + run.stderr
    assert json.loads((tmp_path / "reports" / "results.json").read_text())["impact"] == "disruptive"


# --- action.yml


def step(name: str) -> dict[str, Any]:
    (named,) = [each for each in ACTION["runs"]["steps"] if each.get("name") == name]
    return dict(named)


def run_action(installed: Installation, folder: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    """The step of the action that runs the suite, as a runner does: values come by the environment."""
    values = {name: str(entry["default"]) for name, entry in ACTION["inputs"].items()} | inputs
    variables = {
        name: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda match: values[match[1]], text)
        for name, text in step("Run")["env"].items()
    }
    (folder / "portal-conformance" / "bin").mkdir(parents=True)
    command = folder / "portal-conformance" / "bin" / "portal-conformance"
    command.symlink_to(installed.bin / "portal-conformance")
    paths = {"GITHUB_OUTPUT": "output", "GITHUB_STEP_SUMMARY": "summary", "RUNNER_TEMP": ""}
    files = {name: str(folder / file) for name, file in paths.items()}
    words = ("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step("Run")["run"])
    return run_script(words, folder, installed.environment() | variables | files)


def run_script(
    words: Sequence[str], folder: Path, variables: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    environment = {**variables, "PORTAL_CONFORMANCE_ONLY": RULE}
    return subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_the_action_runs_the_suite_and_writes_outputs_the_summary_and_further_reports(
    installed: Installation, portal: reference.Running, tmp_path: Path
) -> None:
    (tmp_path / "known failures.toml").touch()

    options = {
        "wait-for-target": "60s",
        "fail-on": "should",
        "formats": "sarif,badge,cases",
        "out": "further",
    }

    run = run_action(installed, tmp_path, known="known failures.toml", **options)

    reports = tmp_path / "further"
    assert run.returncode == 0, run.stdout + run.stderr
    assert (tmp_path / "output").read_text() == "exit-code=0\nresults=further/results.json\n"
    assert (tmp_path / "summary").read_text() == (reports / "summary.md").read_text()
    assert json.loads((reports / "results.json").read_text())["fail_on"] == "should"
    assert {path.name for path in reports.iterdir()} >= {"results.sarif", "badge.json", "cases.html"}


PRIVATE = ("changes.jsonl", "replayed.jsonl")
"""What a run or a replay writes for its owner alone."""


def test_files_for_the_owner_alone_are_not_uploaded() -> None:
    upload = next(each for each in ACTION["runs"]["steps"] if "upload-artifact" in each.get("uses", ""))
    excluded = job(out="reports")[1]["artifacts"]["exclude"]

    for name in PRIVATE:
        assert f"!${{{{ inputs.out }}}}/**/{name}" in upload["with"]["path"].splitlines()
        assert f"reports/**/{name}" in excluded


def test_the_action_fails_with_the_exit_code_of_the_run(installed: Installation, tmp_path: Path) -> None:
    run = run_action(installed, tmp_path, profile="nowhere.toml")

    assert run.returncode == 4
    assert (tmp_path / "output").read_text().startswith("exit-code=4\n")


def test_the_action_uses_each_input_and_no_other_and_installs_what_lies_beside_it() -> None:
    used, steps = re.findall(r"inputs\.([\w-]+)", json.dumps(ACTION["runs"])), ACTION["runs"]["steps"]

    assert set(used) == set(ACTION["inputs"])
    assert ACTION["runs"]["using"] == "composite"
    assert all("description" in entry for entry in (*ACTION["inputs"].values(), *ACTION["outputs"].values()))
    assert all("shell" in each for each in steps if "run" in each)
    assert "${{" not in "".join(each.get("run", "") for each in steps), "no value is put into a script"
    assert '"$GITHUB_ACTION_PATH"' in step("Install")["run"]
    assert (ROOT / "pyproject.toml").is_file()


# --- The GitLab component


def job(**inputs: str) -> tuple[str, Mapping[str, Any]]:
    """The job that the component makes of its inputs."""
    values = {name: str(entry["default"]) for name, entry in component_inputs().items()} | inputs
    text = re.sub(r"\$\[\[ inputs\.([\w-]+) \]\]", lambda match: values[match[1]], COMPONENT)
    ((name, content),) = yaml.safe_load(text).items()
    return name, content


def component_inputs() -> dict[str, Any]:
    return dict(yaml.safe_load(COMPONENT_HEAD)["spec"]["inputs"])


def test_the_component_runs_the_suite(
    installed: Installation,
    portal: reference.Running,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    (tmp_path / "known.toml").touch()
    _, content = job(known="known.toml", package="portal-conformance")
    variables = {name: str(value or "") for name, value in content["variables"].items()}
    packages = {"PIP_FIND_LINKS": str(wheel(tmp_path_factory).parent), "PIP_DRY_RUN": "1"}

    script = ("sh", "-e", "-c", "\n".join(content["script"]))
    run = run_script(script, tmp_path, installed.environment() | variables | packages)

    assert run.returncode == 0, run.stdout + run.stderr
    assert (tmp_path / content["artifacts"]["reports"]["junit"]).is_file()
    assert (tmp_path / content["artifacts"]["paths"][0]).is_dir()


# --- The hook of pre-commit


def test_the_hook_finds_a_wrong_profile(installed: Installation, tmp_path: Path) -> None:
    (tmp_path / "portal.toml").write_text(PORTAL + ADMIN, encoding="utf-8")
    (tmp_path / "portal-wrong.toml").write_text(PORTAL + ADMIN + "emial = 'a'\n", encoding="utf-8")
    words = shlex.split(HOOK["entry"])

    valid = installed.run(*words, "portal.toml", folder=tmp_path)
    wrong = installed.run(*words, "portal.toml", "portal-wrong.toml", folder=tmp_path)

    assert (valid.returncode, wrong.returncode) == (0, 4), valid.stderr
    assert 'has no key "emial". Did you mean "email"?' in wrong.stderr


def test_the_hook_takes_profiles_alone_and_has_what_pre_commit_wants() -> None:
    profiles = ("portal.toml", "conf/portal-staging.toml", "portal.test.toml")
    others = ("pyproject.toml", "known.toml", "portal/settings.toml", "portal.toml.md")

    assert [name for name in (*profiles, *others) if re.search(HOOK["files"], name)] == list(profiles)
    assert HOOK.keys() >= {"id", "name", "entry", "language"}
    assert HOOK["language"] == "python"
    assert HOOK["entry"].split()[0] in PROJECT["scripts"]


# --- What the guide shows of them


def values_of(key: str, value: Any) -> Iterator[Any]:
    """Every value under a key, however deep it stands."""
    if isinstance(value, dict):
        yield from (inner for name, inner in value.items() if name == key)
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from values_of(key, inner)


def test_the_configurations_of_the_guide_use_what_is_there() -> None:
    shown = [yaml.safe_load(block.text) for block in blocks("yaml")]
    steps = [each for value in values_of("steps", shown) for each in value]
    inputs = [each["with"] for each in steps if "/portal-conformance@" in each.get("uses", "")]
    included = [each for value in values_of("include", shown) for each in value]
    hooks = [hook["id"] for value in values_of("hooks", shown) for hook in value]

    assert inputs
    assert all(entry.keys() <= ACTION["inputs"].keys() for entry in inputs)
    assert included
    assert all(each["inputs"].keys() <= component_inputs().keys() for each in included)
    assert all(each["component"].partition("@")[0].endswith("/conformance") for each in included)
    assert hooks == [HOOK["id"]]


def test_the_guide_lists_the_inputs_of_the_action_with_their_defaults() -> None:
    page = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `([\w-]+)` \| (none|`\S+`) \|", page, re.MULTILINE))

    assert {name: "" if value == "none" else value.strip("`") for name, value in rows.items()} == {
        name: str(entry["default"]) for name, entry in ACTION["inputs"].items()
    }


def test_each_version_of_python_that_is_declared_is_tried_and_the_others_are_named_nowhere() -> None:
    declared = re.findall(r"(?m):: Python :: (3\.\d+)$", "\n".join(PROJECT["classifiers"]))
    tried = re.findall(r"3\.\d+", "".join(re.findall(r"(.*) \| xargs .*\.ci/lowest", CI_RUN)))
    (image,) = {rest.split()[0] for name, rest in instructions() if name == "FROM"} - {"build"}

    assert tried == declared
    assert PROJECT["requires-python"] == f">={declared[0]}"
    assert re.findall(r"\d\.\d+", image) == declared[-1:]
    assert ACTION["inputs"]["python-version"]["default"] in declared


def test_the_lowest_versions_are_tried_of_all_that_a_user_may_install() -> None:
    script = (ROOT / ".ci" / "lowest").read_text(encoding="utf-8")
    (extras,) = re.findall(r"lowest-direct '\.\[([\w,]+)\]'", script)
    bounds = [*PROJECT["dependencies"], *chain(*PROJECT["optional-dependencies"].values())]

    assert {*extras.split(","), "docs", "dev"} == set(PROJECT["optional-dependencies"])
    assert [bound for bound in bounds if ">=" not in bound] == []


def test_no_next_major_version_is_installed_of_what_broke_with_one() -> None:
    """``pip install --pre`` took an httpx 1 that lacks what is used."""
    bounds = {re.split(r"[^\w-]", bound)[0]: bound for bound in PROJECT["dependencies"]}

    assert bounds["httpx"].endswith(",<1")
    assert [name for name in ("click", "pydantic", "pytest", "starlette") if "<" not in bounds[name]] == []


def test_what_is_imported_is_declared_and_what_is_declared_is_imported() -> None:
    packages = ("conformance", "reference_impl", "cases")
    files = chain.from_iterable((ROOT / package).rglob("*.py") for package in packages)
    trees = [ast.parse(file.read_text(encoding="utf-8")) for file in files if "tests" not in file.parts]
    imported = {name for tree in trees for name in imports(tree)} - set(sys.stdlib_module_names)
    optional = PROJECT["optional-dependencies"]
    extras = (bounds for name, bounds in optional.items() if name not in ("docs", "dev"))
    declared = {re.split(r"[^\w-]", bound)[0] for bound in (*PROJECT["dependencies"], *chain(*extras))}
    names = packages_distributions()
    needed = {names[name][0].lower() for name in imported if name in names} - {"portal-conformance"}
    theirs = {re.split(r"[^\w-]", each)[0].lower() for name in declared for each in requires(name) or ()}

    assert {name.lower() for name in declared} - needed == NAMED
    assert needed - {name.lower() for name in declared} - theirs == set()


NAMED = {"httptools", "pytest-html"}
"""What is imported by its name alone: by uvicorn, below the recorder, and by pytest."""


def test_the_commands_of_the_guide_for_docker_are_understood() -> None:
    shown = [shlex.split(command.text) for command in commands() if command.needs == "docker"]
    runs = [words[words.index("portal-conformance") + 1 :] for words in shown if words[1] == "run"]
    composed = chain.from_iterable(words for words in shown if words[1] == "compose")
    named = [word.partition(":")[0] for word in composed if re.match(r"conformance\b", word)]

    assert {" ".join(words[1:2]) for words in shown} == {"build", "run", "compose"}
    assert len(runs) == 2
    for words in runs:
        understood(words)
    assert set(named) <= set(COMPOSE["services"])


def test_the_toml_of_the_pages_can_be_read() -> None:
    assert [block.page for block in blocks("toml") if not tomllib.loads(block.text)] == []
