"""A portal as somebody deployed it, and the command as somebody runs it: two processes, one socket."""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx

from conformance.cli import main
from conformance.run.options import BY_NAME
from reference_impl import serve


@dataclass(frozen=True)
class Done:
    """What a command came to."""

    code: int
    said: str
    out: Path

    @property
    def results(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.out / "results.json").read_text(encoding="utf-8"))
        return found

    @property
    def fails(self) -> list[str]:
        """Each FAIL as its requirement and message, so that a failing assertion reads well."""
        return [
            f"{finding['requirement']} {finding['message']}"
            for finding in self.results["findings"]
            if finding["verdict"] == "fail"
        ]

    def verdict(self, requirement: str) -> str:
        return next(str(row["verdict"]) for row in self.results["requirements"] if row["id"] == requirement)


@dataclass(frozen=True)
class Deployment:
    running: serve.Running
    profile: Path

    def arguments(self, *options: str, out: Path) -> list[str]:
        return command("run", "--profile", str(self.profile), "--out", str(out), *options)

    def run(self, *options: str, out: Path | None = None) -> Done:
        """The suite against this portal, in a process of its own."""
        place = out or self.profile.parent / "out"
        return done(self.arguments(*options, out=place), place)

    def dump(self) -> dict[str, Any]:
        """The portal's state but for histories and sessions."""
        state: dict[str, Any] = httpx.get(f"{self.running.url}/dump").json()
        return {
            name: part for name, part in state.items() if name not in ("histories", "sessions", "history")
        }

    def received(self) -> dict[str, Any]:
        found: dict[str, Any] = httpx.get(f"{self.running.url}/received").json()
        return found


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "conformance.cli", *arguments]


def done(arguments: Sequence[str], out: Path, environment: Mapping[str, str] = {}) -> Done:
    """What a command of ``command`` comes to, in a process of its own: forked from one that has imported what
    commands need, which takes longer than most of them. ``environment`` is added to this process's."""
    words = arguments[len(command()) :]
    variables = {**os.environ, **environment}
    with tempfile.NamedTemporaryFile() as said:
        process = FORKSERVER.Process(target=_main, args=(words, out.parent, said.name, variables))
        process.start()
        process.join(timeout=300)
        if process.exitcode is None:
            process.kill()
            raise TimeoutError(f"after 300 s this has not ended: {words}")
        return Done(process.exitcode, said.read().decode(), out)


FORKSERVER = multiprocessing.get_context("forkserver")
FORKSERVER.set_forkserver_preload(
    ["conformance.cli.cases", "conformance.cli.live.running", "conformance.target.bundled"]
)


def _main(words: Sequence[str], folder: Path, said: str, environment: dict[str, str]) -> None:
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    output = os.open(said, os.O_WRONLY | os.O_APPEND)
    for descriptor in (1, 2):
        os.dup2(output, descriptor)
    sys.exit(main(words))


@contextmanager
def deployed(folder: Path, **how: Any) -> Iterator[Deployment]:
    """A reference portal started as ``serve.start`` is told, with its profile in a file."""
    with serve.start(**how) as running:
        profile = folder / "portal.toml"
        profile.write_text(running.profile(), encoding="utf-8")
        yield Deployment(running, profile)


def options_of_run(**changes: Any) -> SimpleNamespace:
    """The options of ``run`` without any, but for those that change."""
    values: dict[str, Any] = {name: () if row.repeats else None for name, row in BY_NAME.items()}
    values |= {"formats": (), "further": [], "brief": True}
    return SimpleNamespace(**values | changes)
