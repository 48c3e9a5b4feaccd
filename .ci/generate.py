"""Writes every generated file (``make generate``); with ``--check`` it fails where it would change one.

It stands here and not in the product, as only a checkout has these files to write. Each is made from the code
alone, so that two runs give the same bytes.
"""

from __future__ import annotations

import json
import re
import runpy
import sys
from collections.abc import Callable, Mapping
from difflib import unified_diff
from functools import partial
from itertools import islice
from pathlib import Path

from conformance.report.model.run import schema
from conformance.spec import REQUIREMENTS
from conformance.target.bundled import FAULTS, VARIANTS

ROOT = Path(__file__).parents[1]
Generated = Mapping[str, Callable[[], str]]
"""Files by their path in the project, each with the function that gives its text."""

TOTALS = re.compile(
    r"\d+ faults, \d+ variants: \d+ of \d+ musts and \d+ of \d+ shoulds are proven able to fail, 0 problems"
)


def results_schema() -> str:
    """The JSON Schema of ``results.json``, from its model."""
    return json.dumps(schema(), indent=1) + "\n"


def readme() -> str:
    """The README with its totals, which hold where the selftest finds no problem."""
    levels = [row.level for row in REQUIREMENTS.values() if not row.untestable]
    musts, shoulds = levels.count("must"), levels.count("should")
    totals = (
        f"{len(FAULTS)} faults, {len(VARIANTS)} variants: {musts} of {musts} musts and {shoulds} of {shoulds}"
        " shoulds are proven able to fail, 0 problems"
    )
    text, replaced = TOTALS.subn(totals, (ROOT / "README.md").read_text(encoding="utf-8"))
    if replaced != 1:
        raise SystemExit("README.md: its sentence with the totals of the selftest is not there.")
    return text


def page(script: str, function: str) -> str:
    """A page of the documentation, by a function of a script that stands beside it."""
    return str(runpy.run_path(str(ROOT / "docs" / script))[function]())


GENERATED: Generated = {
    "docs/reference/profile.md": partial(page, "generate_reference.py", "profile_page"),
    "docs/reference/options.md": partial(page, "generate_reference.py", "options_page"),
    "conformance/report/model/results.schema.json": results_schema,
    "README.md": readme,
}


def main(arguments: list[str]) -> int:
    if arguments == ["--check"]:
        differences = stale(GENERATED, ROOT)
        for name, difference in differences.items():
            print(f"{name} is stale. Run `make generate`.\n{difference}")
        return int(bool(differences))
    for name in write(GENERATED, ROOT):
        print(f"{name} has changed.")
    return 0


def stale(generated: Generated, root: Path) -> dict[str, str]:
    """The files that would change, each with the first lines that would; writes none."""
    texts = ((name, present(root / name), text_of()) for name, text_of in generated.items())
    return {name: difference(before, text) for name, before, text in texts if text != before}


def difference(before: str | None, text: str) -> str:
    """The first lines that differ, as a unified diff without context."""
    lines = unified_diff(
        (before or "").splitlines(), text.splitlines(), "present", "generated", n=0, lineterm=""
    )
    return "\n".join(islice(lines, 40))


def write(generated: Generated, root: Path) -> list[str]:
    """Writes the files; gives those that changed."""
    changed = []
    for name, text_of in generated.items():
        before, text = present(root / name), text_of()
        if text != before:
            (root / name).write_text(text, encoding="utf-8")
            changed.append(name)
    return changed


def present(file: Path) -> str | None:
    return file.read_text(encoding="utf-8") if file.exists() else None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
