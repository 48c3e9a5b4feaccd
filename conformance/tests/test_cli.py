"""Wrong usage: each gets one clear line that names what is wrong, exit code 4, and no traceback."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.cli import main
from conformance.cli.commands import BY_COMMAND, COMMANDS, EXIT_CODES
from conformance.cli.program import COMPLETE_VARIABLE, loaded
from conformance.errors import ExitCode
from reference_impl import serve

NOWHERE, EMPTY = "/dev/null/reports", "the value is empty"
SCHEDULED = ("--scheduler", "tcp://127.0.0.1:8786")


def code_of(words: list[str]) -> object:
    """The exit code of a command line, however it is given."""
    try:
        return main(words)
    except SystemExit as ended:
        return ended.code


@pytest.mark.parametrize(
    "words, said",
    [
        (["nope"], "unknown command: 'nope'"),
        (["rnu"], "Did you mean run?"),
        ([], "Missing command."),
        (["--profile", "x", "run"], "Options come after the command."),
        (["serve", "--fault", "roles-without-tokn"], "the nearest are roles-without-token"),
        (["serve", "--variant", "gzipp"], "the nearest are gzip"),
        (["serve", "--port", "70000"], '"70000" is no port'),
        (["serve", "--limit", "window=1"], 'there is no limit "window"'),
        (["serve", "--limit", "login_window"], "--limit: login_window has no value: write login_window=60."),
        (["serve", "--port", "0", "--profile-out", "/dev/null/x"], "/dev/null/x cannot be written: not a"),
        (["serve", "--host", "192.0.2.1"], "cannot be served at 192.0.2.1:8000: "),
        (["run", "--level", "core"], "--level is a level of an edition. Name the edition by --edition."),
        (["run", "--effort", "huge"], "--effort: invalid choice: 'huge'"),
        (["run", "--out", NOWHERE], f"Cannot write {NOWHERE}: not a directory. Choose another --out"),
        (["run", "--only", "LOGN-*"], "portal-conformance: --only LOGN-*: no rule matches this"),
        (["plan", "--only", "LOGN-*"], "The nearest are LOGIN-*"),
        (["check", "x.jsonl", "--only", "LOGN-*"], "The nearest are LOGIN-*"),
        (["requirements", "--only", "LOGN-*"], "The nearest are LOGIN-*"),
        (["run", "--watch"], "--watch needs a portal that can restart. Give --profile FILE or --target URL."),
        (["run", "--watch", "--failed", "--target", "http://127.0.0.1:9"], "Leave out --failed and --rerun"),
        (["check", __file__, *SCHEDULED, "--workers", "2"], "Leave out --workers"),
        (["replay", __file__, *SCHEDULED, "--workers", "2"], "Leave out --workers"),
        (["check", __file__, "--workers", "0"], "is no number of processes"),
        (["replay", __file__, "--workers", "0"], "is no number of processes"),
        (["mcp", "--profile", "/nowhere/portal.toml"], "/nowhere/portal.toml: there is no such file"),
        (["mcp", "--target", "portal"], "[portal] url must be an address such as"),
        (["docs", "recording"], "there is no such page. The nearest is recordings."),
        (["setup"], "portal-conformance setup --print > portal.toml"),
        (["run", "--bogus"], ": run: unrecognized arguments: --bogus. `portal-conformance run"),
        (["run", "--profil", "x"], "unknown option or argument: --profil. Did you mean --profile?"),
        (["run", "portal.toml"], "Write --profile portal.toml."),
        (["run", "--rerun", "GET /web/v1/system/profile"], "an endpoint is not a requirement, case"),
        (["run", "--wait-for-target", "soon"], "--wait-for-target soon: write a number with s, m or h"),
        (["run", "--profile", "--strict"], "--profile: a value is missing before --strict."),
        (["run", "--target", ""], EMPTY),
        (["run", "--rerun", " "], EMPTY),
        (["selftest", "--only", "nope"], 'no fault and no variant "nope"'),
        (["selftest", "--only", "gzip", "--out", NOWHERE], f"Cannot write {NOWHERE}: not a directory."),
        (["selftest", "gzip"], "unknown option or argument: gzip"),
        (["plan", "--profile", "/dev/null/portal.toml"], "/dev/null/portal.toml"),
        (["check"], "FILE is missing."),
        (["check", "/dev/null/today.jsonl"], "/dev/null/today.jsonl"),
        (["check", "--strct", "x"], "Did you mean --strict"),
        (["check", ""], EMPTY),
        (["compare", "/dev/null/a", "/dev/null/b"], "/dev/null/a"),
        (["compare", "reports", "--prune"], "by one RUN"),
        (["compare", "a", "b", "--accept", "all"], "by one RUN"),
        (["compare", "reports"], "compare needs at least two runs."),
        (["history"], "--history is missing."),
        (["history", "--history", "/dev/null/runs.db"], "there is no such database"),
        (["record", "--upstream", "portal", "--out", "x.jsonl"], "--upstream portal: give an address"),
        (["cleanup", "/nowhere/changes.jsonl", "--target", "http://127.0.0.1:9"], "there is no such file"),
        (["cleanup", "/dev/null/changes.jsonl", "--profile", "/dev/null/portal.toml"], "/dev/null/"),
        (["doctor", "--offline", "/"], "/: cannot be read (is a directory)."),
        (["doctor"], "doctor needs --profile FILE or --target URL."),
    ],
)
def test_wrong_usage_is_said_briefly(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert code_of(words) == 4

    told = capsys.readouterr().err
    assert said in told
    assert len(told.splitlines()[-1]) < 1_000
    assert "usage:" not in told


def test_options_of_pytest_are_no_slips_of_run() -> None:
    context = loaded("run").make_context(
        "run", ["-k", "login", "--maxfail=1", "--failed-first", "--strict", "--durations", "3", "--tb=line"]
    )

    assert context.args == ["-k", "login", "--maxfail=1", "--failed-first", "--durations", "3", "--tb=line"]
    assert context.params["strict"] is True


def test_the_help_of_run_lists_every_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--help"]) == 0

    shown = dict(re.findall(r"^  (\d) (\S.*?)\s*$", capsys.readouterr().out, re.MULTILINE))
    assert {int(code) for code in shown} == set(ExitCode) == set(EXIT_CODES)


def test_the_help_of_a_command_has_an_example_that_it_understands(capsys: pytest.CaptureFixture[str]) -> None:
    for name, row in BY_COMMAND.items():
        assert main([name, "--help"]) == 0

        assert row.example in capsys.readouterr().out
        words = re.sub(r'^eval "\$\((.*)\)"$', r"\1", row.example).partition(" >")[0].split()
        assert loaded(name).make_context(name, words[2:]).params is not None


def test_the_options_of_a_load_stand_at_the_end_of_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", "--help"]) == 0

    usual, _, load = capsys.readouterr().out.partition("A load (extra scale)")
    assert "--only" in usual
    assert "--rate" not in usual
    assert re.findall(r"--[a-z-]+", load.partition("Examples:")[0]) == [
        "--rate", "--repeat", "--duration", "--ramp", "--latency",
    ]  # fmt: skip


def test_the_help_shows_every_command_in_its_group(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0

    text = capsys.readouterr().out
    places = [text.index(f"\n  {row.name} ") for row in COMMANDS]
    assert places == sorted(places)
    assert all(text.index(f"{row.group}: ") < place for row, place in zip(COMMANDS, places, strict=True))


@pytest.mark.parametrize("name", ["run", "plan", "doctor", "replay", "cleanup"])
def test_an_option_is_taken_from_its_environment_variable(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PORTAL_CONFORMANCE_PROFILE", "from-environment.toml")
    words = ["x"] if name in ("replay", "cleanup") else []

    assert loaded(name).make_context(name, list(words)).params["profile"] == Path("from-environment.toml")
    named = loaded(name).make_context(name, [*words, "--profile", "named.toml"])
    assert named.params["profile"] == Path("named.toml")


def test_an_empty_environment_variable_is_a_usage_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PORTAL_CONFORMANCE_TARGET", "")

    assert code_of(["run"]) == 4
    assert "--target: the value is empty: PORTAL_CONFORMANCE_TARGET" in capsys.readouterr().err


@pytest.mark.parametrize(
    "line, expected",
    [
        ("portal-conformance re", {"record", "replay", "requirements"}),
        ("portal-conformance run --tar", {"--target"}),
        ("portal-conformance run --impact m", {"mutating"}),
    ],
)
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_completes_commands_options_and_their_values(
    shell: str,
    line: str,
    expected: set[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Each shell says in its own way at which word it is, and wants the words in its own form."""
    words = line.split()
    monkeypatch.setenv(COMPLETE_VARIABLE, f"{shell}_complete")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", words[-1] if shell == "fish" else str(len(words) - 1))

    main([])

    words_shown = re.findall(r"^plain[,\n]([^\s,]+)", capsys.readouterr().out, re.MULTILINE)
    assert set(words_shown) == expected


def test_portal_toml_of_the_folder_is_the_profile_where_no_target_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "portal.toml").write_text(
        'profile = 1\n[portal]\nurl = "http://127.0.0.1:9"\naccess_code = "c"\n'
        '[accounts.admin]\nemail = "a@example.test"\npassword = "a-long-password"\n'
    )
    monkeypatch.chdir(tmp_path)

    assert main(["plan"]) == 0
    printed = capsys.readouterr()
    assert printed.err == "No --profile and no --target: portal.toml of this folder is the profile.\n"
    assert "--impact read-only" in printed.out
    assert "\ntarget    http://127.0.0.1:9 · profile portal.toml\n" in printed.out

    assert main(["plan", "--target", "http://127.0.0.1:8"]) == 0
    of_target = capsys.readouterr()
    assert (of_target.err, "\ntarget    http://127.0.0.1:8\n" in of_target.out) == ("", True)

    assert main(["plan", "--profile", "portal.toml", "--target", "http://127.0.0.1:7"]) == 0
    assert "\ntarget    http://127.0.0.1:7 · profile portal.toml\n" in capsys.readouterr().out

    assert main(["doctor"]) == 6
    assert capsys.readouterr().err == printed.err


@pytest.mark.parametrize(
    "line",
    [
        *("run --nope", "run --profile none.toml", "run --watch", "run --rerun NOPE-001", "setup"),
        *("selftest x", "plan --only LOGN-*", "requirements --only LOGN-*", "doctor --profile none.toml"),
        *("check --strct x", "check none.jsonl", "replay none.jsonl --target http://127.0.0.1:9"),
        *("compare none neither", "compare none neither nor", "merge none neither"),
        *("compare none --known known.toml --accept all", "history --history none.db"),
    ],
)
def test_a_usage_error_creates_no_report_and_touches_none(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = line.split()
    monkeypatch.chdir(tmp_path)

    assert code_of(words) == 4
    assert list(tmp_path.iterdir()) == []

    names = {"cases.html", "results.json", "exchanges.jsonl", "compare.html", "matrix.html"}
    for name in names:
        (tmp_path / name).write_text("of the last run")
    assert code_of([*words, "--out", str(tmp_path)]) == 4
    assert {file.name for file in tmp_path.iterdir()} <= names | {".lock"}
    assert {(tmp_path / name).read_text() for name in names} == {"of the last run"}


def modules_of(script: str) -> set[str]:
    """The modules that a fresh process has imported after a script."""
    words = [sys.executable, "-c", f"import sys\n{script}\nprint('\\nloaded', *sys.modules)"]
    printed = subprocess.run(words, capture_output=True, text=True, check=True)
    return set(printed.stdout.rpartition("loaded")[2].split())


OF_CASES = {"pytest", "conformance.cases", "reference_impl.app"}
SLOW_TO_IMPORT = {"pytest", "httpx", "cryptography", "jinja2", "conformance.judging", "reference_impl.app"}
OF_WORK = {*SLOW_TO_IMPORT, "pydantic", "conformance.spec", "msgspec"}
EACH_HELP = "from conformance.cli.program import COMMANDS, loaded\nfor row in COMMANDS: loaded(row.name)"
WRONG_VALUES = ("--profile none.toml", "--only NOPE-1", "--rerun NOPE-001")
RUN = "from conformance.cli import main\ntry: main('{}'.split())\nexcept SystemExit: pass"


@pytest.mark.parametrize(
    "script, others",
    [
        *((RUN.format(line), OF_WORK) for line in ("--help", "--version", "run --help", "run --strct")),
        *((RUN.format(f"run {line}"), OF_CASES) for line in WRONG_VALUES),
        (EACH_HELP, SLOW_TO_IMPORT),
        ("import conformance.cli.files", {"httpx", "aiohttp", "uvicorn", "cryptography", "jwt", "pytest"}),
    ],
)
def test_nothing_is_imported_that_only_other_work_needs(script: str, others: set[str]) -> None:
    """Not for help or a wrong word or value, nor, by what judges files, to send, serve or run cases."""
    assert not others & modules_of(script)


def test_options_of_pytest_and_of_its_plugins_are_passed_on(tmp_path: Path) -> None:
    line = f"run --deselect x --tb short --conformance-min-tested 1 --collect-only -q --out {tmp_path}"
    words = line.split()

    assert code_of([*words, "--only", "CONSTANT-020"]) == 0
    assert code_of([*words, "--nope", "-p", "no:cacheprovider"]) == 4


@pytest.mark.parametrize("module", ["conformance", "conformance.cli"])
def test_the_packages_are_programs_too(module: str) -> None:
    printed = subprocess.run([sys.executable, "-m", module, "--version"], capture_output=True, check=True)

    assert re.fullmatch(rb"\d+\.\d+\.\d+\s*", printed.stdout)


@pytest.mark.parametrize(
    "options",
    [
        *("--time-budget soon", "--time-budget 10", "--wait-for-target 60", "--known nowhere.toml"),
        *("--failed", "--history /dev/null/runs.db", "--rerun NOPE-1", "--profile clock.toml"),
    ],
)
def test_a_run_that_cannot_be_understood_says_nothing_else_and_creates_nothing(
    options: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with serve.start() as running:
        clock = running.profile().replace("/clock/advance", "/web/v1/clock")
        Path("p.toml").write_text(running.profile(), encoding="utf-8")
        Path("clock.toml").write_text(clock, encoding="utf-8")
        assert code_of(["run", "--profile", "p.toml", "--out", "reports", *options.split()]) == 4

    said = "".join(capfd.readouterr())
    assert {file.name for file in tmp_path.iterdir()} == {"p.toml", "clock.toml"}
    if "clock.toml" not in options:
        assert "rules     " not in said
        assert len(said.strip().splitlines()) == 1


def test_a_mistake_of_the_suite_is_an_internal_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Here it is one of the shell, which asks for completions and does not say of what."""
    monkeypatch.setenv(COMPLETE_VARIABLE, "bash_complete")
    monkeypatch.delenv("COMP_WORDS", raising=False)

    assert main([]) == 3
    last = capsys.readouterr().err.splitlines()[-1]
    assert last == "portal-conformance: internal error: KeyError: 'COMP_WORDS'"
