"""Renews ``conformance/run/without_admin.json``: the rules that a run decides without an admin (two minutes).

    .venv/bin/python .ci/measure_without_admin.py

``make check`` does without it, as one run waits for a code to expire; a test holds the list against ``plan``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import tomlkit

ROOT = Path(__file__).parents[1]
FILE = ROOT / "conformance" / "run" / "without_admin.json"
COMMAND = (sys.executable, "-m", "conformance.cli")


def decided(folder: Path, *arguments: str, code: str) -> list[str]:
    """The rules that a run against a portal decides, sorted by id."""
    words = [*COMMAND, "run", "--impact", "disruptive", "--out", str(folder), *arguments]
    environment = {**os.environ, "PORTAL_ACCESS_CODE": code}
    subprocess.run(words, cwd=folder.parent, env=environment, check=False, stdout=subprocess.DEVNULL)
    rows = json.loads((folder / "results.json").read_text(encoding="utf-8"))["requirements"]
    return sorted(row["id"] for row in rows if row["verdict"] != "untested")


def measured(folder: Path) -> dict[str, list[str]]:
    """The rules without any account, and with the spare one alone."""
    profile = folder / "portal.toml"
    words = [*COMMAND, "serve", "--port", "0", "--profile-out", str(profile)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as portal:
        try:
            assert portal.stdout is not None
            while portal.stdout.readline() and not profile.exists():
                pass
            whole = tomlkit.parse(profile.read_text(encoding="utf-8"))
            address, code = str(whole["portal"]["url"]), str(whole["portal"]["access_code"])
            accounts = whole["accounts"]
            whole["accounts"] = {"spare": accounts["spare"]}
            profile.write_text(tomlkit.dumps(whole), encoding="utf-8")
            nobody = decided(folder / "nobody", "--target", address, code=code)
            return {
                "nobody": nobody,
                "others": decided(folder / "others", "--profile", str(profile), code=code),
            }
        finally:
            portal.terminate()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        text = json.dumps(measured(Path(name)), indent=1) + "\n"
    is_new = text != FILE.read_text(encoding="utf-8")
    FILE.write_text(text, encoding="utf-8")
    print(f"{FILE.name} {'has changed' if is_new else 'is as before'}.")
