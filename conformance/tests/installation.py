"""The wheel, and one fresh environment with it, made once for all tests that need them."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
PLUGINS = ("pytest-asyncio", "pytest-profiling", "pytest-xdist")
"""Plugins that other people's projects have."""


@dataclass(frozen=True)
class Installation:
    """An environment of its own, with the wheel and the plugins."""

    folder: Path

    @property
    def bin(self) -> Path:
        return self.folder / "bin"

    @property
    def site(self) -> Path:
        (site,) = self.folder.glob("lib/python*/site-packages")
        return site

    def run(
        self, *words: str, folder: Path, input: str | None = None, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        """A program of the environment, run in a folder."""
        program, *arguments = words
        return subprocess.run(
            [str(self.bin / program), *arguments],
            cwd=folder,
            env={**self.environment(), **variables},
            capture_output=True,
            text=True,
            input=input,
            check=False,
        )

    def environment(self) -> dict[str, str]:
        """The variables of a shell in which this environment is active."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
        return kept | {"PATH": f"{self.bin}{os.pathsep}{kept['PATH']}", "VIRTUAL_ENV": str(self.folder)}


def wheel(factory: pytest.TempPathFactory) -> Path:
    """The wheel of the checkout."""
    (built,) = shared(factory, "wheel", lambda folder: build_wheel(ROOT, folder)).glob("*.whl")
    return built


def build_wheel(source: Path, folder: Path) -> None:
    quietly(sys.executable, "-m", "build", "--wheel", "--outdir", str(folder), str(source))


def installation(factory: pytest.TempPathFactory) -> Installation:
    """A fresh environment into which pip has installed the wheel and the plugins."""
    return Installation(shared(factory, "environment", lambda folder: _install(folder, wheel(factory))))


def _install(folder: Path, built: Path) -> None:
    # uv lays out what the wheel depends on in a second; it is pip that installs the wheel.
    uv = str(BIN / "uv")
    constraints = str(ROOT / "constraints.txt")
    quietly(uv, "venv", "--seed", "--allow-existing", "--python", sys.executable, str(folder))
    needed = ("-r", str(ROOT / "pyproject.toml"), *PLUGINS, "--constraint", constraints)
    quietly(uv, "pip", "install", "--python", str(folder), *needed)
    pip = (str(folder / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "install", "--quiet")
    quietly(*pip, str(built), *PLUGINS)


def shared(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """A folder that one of the test processes makes, and that all of them use."""
    base = factory.getbasetemp()
    common = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    place, ready = common / name, common / f"{name}.ready"
    with open(common / f"{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not ready.exists():
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir()
            make(place)
            ready.touch()
    return place


def quietly(*words: str) -> None:
    """Runs a program. RuntimeError: it fails, with its own words."""
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(words)}:\n{done.stdout}{done.stderr}")
