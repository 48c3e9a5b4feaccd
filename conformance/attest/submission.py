"""One zip of fixed names, with a verified report and the product that it is about."""

from __future__ import annotations

import zipfile
from pathlib import Path

from msgspec.structs import replace

from conformance.attest.folder import PRODUCT, SUBMITTED
from conformance.errors import UsageError
from conformance.report.formats.manifest import EXCHANGES
from conformance.report.model.run import Run
from conformance.report.model.words import listed
from conformance.traffic import capture
from conformance.traffic.documents import toml_tables, user_text
from conformance.traffic.exchange import Request
from conformance.traffic.redaction.finder import SecretFinder, is_of_a_recorder
from conformance.traffic.redaction.redact import Secrets
from conformance.traffic.replacing import written_whole


def submit(run: Run, folder: Path, out: Path, product: Path) -> None:
    """Writes the zip of a folder that was verified. UsageError: it is of a selection, has a secret, or the
    product has no name and version."""
    text = user_text(product, error=UsageError, missing="Write one with name and version.")
    table = toml_tables(text, str(product), error=UsageError)
    if not all(isinstance(table.get(key), str) and table[key] for key in ("name", "version")):
        raise UsageError(f"{product}: it needs name and version, each a text.")
    if run.scope.selection:
        raise UsageError(f"{folder}: a selection says nothing of the whole ({run.scope.selection}). Run all.")
    if run.scope.bundled:
        raise UsageError(f"{folder}: it is of the bundled reference portal, and of no product.")
    _refuse_secrets(folder / EXCHANGES)
    with written_whole(out) as path, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in SUBMITTED:
            if name == PRODUCT:
                archive.writestr(name, text)
            elif (folder / name).exists():
                archive.write(folder / name, name)


def _refuse_secrets(exchanges: Path) -> None:
    """UsageError: an exchange has what looks like a secret. A run makes up wrong ones, and leaves them in the
    requests that it redacts otherwise."""
    finder, secrets = SecretFinder(), Secrets()
    for exchange in capture.read(exchanges):
        sent = exchange.request
        bare = Request(method=sent.method, url=sent.url) if is_of_a_recorder(exchange) else sent
        finder.register(replace(exchange, request=bare), secrets)
        if finder.has_changed_any:
            where = f"{exchanges}: exchange {exchange.n}"
            raise UsageError(
                f"{where} has a likely secret ({listed(finder.counts)}). Redact it: --redact NAME."
            )
