"""What the differences of lawful variants mean: a visit of the scripted client, replayed on each variant.

    .venv/bin/python benchmarks/meanings.py [--only NAME]… [--workers N]

As ``replayed_faults.py`` measures them, without a browser and without faults.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from replayed_faults import reported

from conformance.tests.replays import recorded_visit
from reference_impl.variants import VARIANTS


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="a variant")
    parser.add_argument("--workers", type=int, default=2, help="processes")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        recording = recorded_visit(Path(folder))
        return reported([recording], [], asked.only or list(VARIANTS), workers=asked.workers)


if __name__ == "__main__":
    sys.exit(main())
