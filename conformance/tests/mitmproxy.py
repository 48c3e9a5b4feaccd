"""mitmproxy as a recorder: ``mitmdump`` before a portal, in an environment of its own (``.ci/mitmproxy``)."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from conformance.tests.browser import lacks

OWN = Path(__file__).parents[2] / ".ci" / ".venv" / "bin" / "mitmdump"
MITMDUMP = os.environ.get("MITMDUMP") or (str(OWN) if OWN.exists() else shutil.which("mitmdump"))


@contextmanager
def recording(upstream: str, har: Path) -> Iterator[str]:
    """The address of a reverse proxy before ``upstream``; the HAR is written when the block ends."""
    if MITMDUMP is None:
        lacks("no mitmdump is found: .ci/mitmproxy installs it, or name one in MITMDUMP")
    options = {"hardump": har, "confdir": har.parent / "mitmproxy", "flow_detail": 0}
    told = [part for name, value in options.items() for part in ("--set", f"{name}={value}")]
    listens = ["--listen-host", "127.0.0.1", "--listen-port", "0"]
    proxy = subprocess.Popen(
        [MITMDUMP, "--mode", f"reverse:{upstream}", *listens, *told],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    try:
        yield f"http://127.0.0.1:{_port(proxy)}"
    finally:
        proxy.send_signal(signal.SIGINT)
        proxy.communicate(timeout=30)


def _port(proxy: subprocess.Popen[str]) -> str:
    """The port it says that it listens on."""
    assert proxy.stdout is not None
    said = ""
    for line in proxy.stdout:
        said += line
        found = re.search(r"listening at (?:http://)?127\.0\.0\.1:(\d+)", line)
        if found:
            return found[1]
    raise AssertionError(f"mitmdump did not start: {said}")
