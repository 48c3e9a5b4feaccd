"""pytest-html's page of cases holds no secret, as no other report does."""

from __future__ import annotations

import html
import json
from pathlib import Path
from typing import Any

from conformance.cli.live.running import Ending, run
from conformance.report.formats.write import CASES
from conformance.tests.deployment import options_of_run
from conformance.traffic.redaction.redact import Secrets
from conformance.traffic.redaction.registries import created_registries

TOKEN = "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZG1pbiJ9.c2lnbmF0dXJl"
PASSWORD = 'Pass "word" & <more>'


def test_the_page_is_written_without_secrets_and_keeps_its_data(tmp_path: Path) -> None:
    def start(words: list[str], plugins: list[Any]) -> int:
        page = next(Path(word.removeprefix("--html=")) for word in words if word.startswith("--html="))
        data = json.dumps({"skipped": f"refused with code {TOKEN}", "log": f'"{PASSWORD}"'})
        page.write_text(f'<div data-jsonblob="{html.escape(data)}"></div><p>{TOKEN}</p>', encoding="utf-8")
        next(plugin for plugin in plugins if isinstance(plugin, Ending)).reports = tmp_path
        return 0

    with created_registries():
        secrets = Secrets()
        secrets.add(TOKEN, "token")
        secrets.add(PASSWORD, "password")
        run(options_of_run(further=["-q"], formats=["cases"]), tmp_path, start=start)

    text = (tmp_path / CASES).read_text(encoding="utf-8")
    assert TOKEN not in text
    data = json.loads(html.unescape(text.partition('data-jsonblob="')[2].partition('"')[0]))
    assert data == {"skipped": "refused with code [token-1]", "log": '"[password-1]"'}
