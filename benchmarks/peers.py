"""Virtual environments of the tools that benchmarks compare with.

.venv/bin/python benchmarks/peers.py [NAME…]     makes them, or some of them
"""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

HOME = Path(__file__).parent.parent / ".venv-peers"
PACKAGES = {
    "openapi-core": "openapi-core>=0.19",
    "locust": "locust>=2.32",
    "mitmproxy": "mitmproxy>=11",
    "cosmic-ray": "cosmic-ray>=8.4",
}


def python_of(name: str) -> Path:
    """The interpreter of a peer's environment, which is made where it is missing."""
    home = HOME / name
    python = home / "bin" / "python"
    if not (home / "ready").exists():
        venv.create(home, with_pip=True, clear=True)
        command = [str(python), "-m", "pip", "install", "--quiet", PACKAGES[name]]
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
        (home / "ready").touch()
    return python


def version_of(name: str) -> str:
    command = [str(python_of(name)), "-c", f"import importlib.metadata as m; print(m.version({name!r}))"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


if __name__ == "__main__":
    for peer in sys.argv[1:] or PACKAGES:
        print(peer, version_of(peer))
