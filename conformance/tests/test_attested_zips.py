"""A report that leaves for others: signed, packed, read back, and refused where it is none."""

from __future__ import annotations

import json
import os
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from conformance.check import CheckOptions, check
from conformance.cli import main
from conformance.report.formats.manifest import ENVELOPE, EXCHANGES, MANIFEST
from conformance.tests.attested import assert_verified, rewrite_manifest, verified
from conformance.tests.test_check import JSON, OWN, envelope, exchange, written
from conformance.traffic.exchange import Exchange, Response

PRODUCT = 'name = "Portal"\nversion = "1.2"\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The report of a check of one exchange, with what else the commands read."""
    check([written(tmp_path, exchange())], CheckOptions(out=tmp_path / "reports"))
    (tmp_path / "PRODUCT.toml").write_text(PRODUCT, encoding="utf-8")
    return tmp_path / "reports"


def packed(folder: Path, name: str = "a.zip") -> Path:
    """The zip of a folder."""
    out, product = folder.parent / name, folder.parent / "PRODUCT.toml"
    assert main(["verify", str(folder), "--zip", str(out), "--product", str(product)]) == 0
    return out


def keys(folder: Path, name: str, password: bytes = b"") -> tuple[Path, Path]:
    """The files of a fresh private key and of its public one."""
    key = Ed25519PrivateKey.generate()
    locked = BestAvailableEncryption(password) if password else NoEncryption()
    private, public = folder / f"{name}.pem", folder / f"{name}.pub.pem"
    private.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, locked))
    public.write_bytes(key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    return private, public


def test_a_signature_holds_for_its_key_and_its_manifest_alone(folder: Path, tmp_path: Path) -> None:
    (private, public), (_, other) = keys(tmp_path, "ours"), keys(tmp_path, "theirs")

    assert_verified(1, "nobody signed the manifest", folder, "--key", public)
    assert verified(folder, "--sign", private)[0] == 0
    assert_verified(0, "signed the manifest, by the key that was given", folder, "--key", public)
    assert verified(packed(folder), "--key", public)[0] == 0
    assert_verified(1, "no signature in it is of this key", folder, "--key", other)

    (folder / "summary.md").write_text("Conformant", encoding="utf-8")
    rewrite_manifest(folder)
    assert_verified(1, "it signs another manifest", folder, "--key", public)

    (folder / ENVELOPE).write_text('{"payload": "!", "payloadType": "x", "signatures": []}', encoding="utf-8")
    assert_verified(1, "this is no envelope", folder, "--key", public)


def test_the_next_run_into_the_folder_leaves_no_signature_of_the_last(folder: Path, tmp_path: Path) -> None:
    private, _ = keys(tmp_path, "ours")
    assert verified(folder, "--sign", private)[0] == 0

    check([tmp_path / "traffic.jsonl"], CheckOptions(out=folder))

    assert not (folder / ENVELOPE).exists()


def test_what_is_other_is_neither_signed_nor_packed(folder: Path, tmp_path: Path) -> None:
    private, _ = keys(tmp_path, "ours")
    (folder / "summary.md").write_text("Conformant", encoding="utf-8")

    words = ("--sign", private, "--zip", tmp_path / "a.zip", "--product", tmp_path / "PRODUCT.toml")

    assert verified(folder, *words)[0] == 1
    assert not (folder / ENVELOPE).exists()
    assert not (tmp_path / "a.zip").exists()


@pytest.mark.parametrize("name", ["ours.pub.pem", "locked.pem", "PRODUCT.toml"])
def test_what_is_no_private_key_is_refused(name: str, folder: Path, tmp_path: Path) -> None:
    keys(tmp_path, "ours")
    keys(tmp_path, "locked", password=b"secret")

    assert_verified(4, "this is no Ed25519 private key in PEM", folder, "--sign", tmp_path / name)
    assert verified(folder, "--key", tmp_path / "ours.pem")[0] == 4


def test_a_zip_has_fixed_names_verifies_and_is_compared_as_a_folder(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, two = packed(folder, "one.zip"), packed(folder, "two.zip")

    with zipfile.ZipFile(one) as archive:
        names = {MANIFEST, "results.json", "report.html", EXCHANGES, "PRODUCT.toml"}
        assert set(archive.namelist()) == names
        assert archive.read("PRODUCT.toml").decode() == PRODUCT
    assert verified(one)[0] == 0
    assert main(["compare", str(one), str(two)]) == 0
    assert main(["compare", str(one), str(two), str(folder)]) == 0
    said = capsys.readouterr().out
    assert "one" in said
    assert "two" in said


@pytest.mark.parametrize("table", ['name = "Portal"', 'name = "Portal"\nversion = 1.2', "name ="])
def test_a_product_needs_a_name_and_a_version(table: str, folder: Path, tmp_path: Path) -> None:
    product = tmp_path / "PRODUCT.toml"
    product.write_text(table, encoding="utf-8")

    assert_verified(4, "PRODUCT.toml", folder, "--zip", tmp_path / "a.zip", "--product", product)
    assert_verified(4, "belong together", folder, "--zip", tmp_path / "a.zip")
    assert not (tmp_path / "a.zip").exists()


LIKELY_SECRET = exchange(response=Response(status=200, headers=[*JSON, *OWN], body=envelope()))
"""A recorder that redacted the access code has left it in an answer."""


@pytest.mark.parametrize(
    "judged, options, words",
    [
        (exchange(), ["--only", "ENV-*"], "a selection says nothing of the whole (--only ENV-*)"),
        (LIKELY_SECRET, [], "exchange 1 has a likely secret (x-vendor-key)"),
    ],
)
def test_a_report_of_a_selection_or_with_a_likely_secret_is_not_packed(
    judged: Exchange, options: list[str], words: str, tmp_path: Path
) -> None:
    product, out = tmp_path / "PRODUCT.toml", tmp_path / "reports"
    product.write_text(PRODUCT, encoding="utf-8")
    main(["check", str(written(tmp_path, judged)), *options, "--out", str(out)])

    assert_verified(4, words, out, "--zip", tmp_path / "a.zip", "--product", product)


def foreign(place: Path) -> None:
    with zipfile.ZipFile(place, "a") as archive:
        archive.writestr("../escaped.txt", "x")


def twice(place: Path) -> None:
    with zipfile.ZipFile(place, "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr("results.json", "{}")


def linked(place: Path) -> None:
    place.unlink()
    member = zipfile.ZipInfo("results.json")
    member.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(place, "w") as archive:
        archive.writestr(member, "/etc/hostname")


def bomb(place: Path) -> None:
    place.unlink()
    with zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as archive:
        with archive.open(EXCHANGES, "w", force_zip64=True) as member:
            for _ in range(1100):
                member.write(bytes(1 << 20))


def broken(place: Path) -> None:
    place.write_bytes(place.read_bytes()[:-30])


HOSTILE: dict[str, tuple[Callable[[Path], None], str]] = {
    "a name that leads elsewhere": (foreign, "'../escaped.txt'. A zip of a report holds"),
    "a name twice": (twice, "each at most once"),
    "a link": (linked, "a member is encrypted or a link"),
    "a bomb": (bomb, "it unfolds to more than 1024 MiB"),
    "a broken zip": (broken, "cannot be read as a folder or a zip"),
    "no file": (Path.unlink, "cannot be read as a folder or a zip"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_zip_that_is_no_report_is_refused(name: str, folder: Path, tmp_path: Path) -> None:
    make, words = HOSTILE[name]
    place = packed(folder)
    make(place)

    assert_verified(4, words, place)
    assert not (tmp_path.parent / "escaped.txt").exists()


def holding(name: str, text: str) -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_text(text, encoding="utf-8")


def as_pipe(folder: Path) -> None:
    (folder / EXCHANGES).unlink()
    os.mkfifo(folder / EXCHANGES)


def as_link(folder: Path) -> None:
    (folder / "junit.xml").unlink()
    (folder / "junit.xml").symlink_to("/etc/hostname")


UNREADABLE: dict[str, tuple[Callable[[Path], object], str]] = {
    "no manifest": (lambda folder: (folder / MANIFEST).unlink(), "there is no such file"),
    "a manifest of another tool": (holding(MANIFEST, "{}"), "this is no manifest"),
    "a deep manifest": (holding(MANIFEST, "[" * 100_000), "this is no manifest"),
    "other results": (holding("results.json", "{}"), "not a results.json"),
    "a broken line": (holding(EXCHANGES, '{"n": 1'), "exchanges.jsonl:1"),
    "a pipe": (as_pipe, "it is a link or no file"),
    "a link": (as_link, "it is a link or no file"),
    "a large report": (
        lambda folder: os.truncate(folder / "results.json", 257 << 20),
        "it is larger than 256 MiB",
    ),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_a_folder_that_cannot_be_read_is_refused(name: str, folder: Path) -> None:
    make, words = UNREADABLE[name]
    make(folder)

    assert_verified(4, words, folder)


@pytest.mark.parametrize(
    ("content", "words"),
    [({"junk.txt": "x"}, "it holds 'junk.txt'"), ({"results.json": "{}"}, "there is no such file")],
)
def test_a_zip_without_results_is_compared_with_nothing(
    content: dict[str, str], words: str, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        for name, text in content.items():
            archive.writestr(name, text)

    assert main(["compare", str(folder), str(tmp_path / "other.zip")]) == 4
    assert words in capsys.readouterr().err


def test_a_zip_is_neither_signed_nor_packed_again(folder: Path, tmp_path: Path) -> None:
    private, _ = keys(tmp_path, "ours")

    assert_verified(4, "only a folder is signed or packed", packed(folder), "--sign", private)


def test_the_manifest_names_what_was_judged_and_the_clock_of_the_portal(tmp_path: Path) -> None:
    headers = [*JSON, ("Date", "Thu, 01 Jan 2026 00:00:00 GMT")]
    answered = exchange(response=Response(status=200, headers=headers, body=envelope()))
    check([written(tmp_path, answered)], CheckOptions(out=tmp_path / "reports"))

    statement = json.loads((tmp_path / "reports" / MANIFEST).read_text(encoding="utf-8"))

    assert statement["_type"] == "https://in-toto.io/Statement/v1"
    assert statement["predicateType"] == "https://in-toto.io/attestation/test-result/v0.1"
    predicate = statement["predicate"]
    assert (predicate["result"], predicate["command"]) == ("PASSED", "check")
    assert predicate["date"] == "Thu, 01 Jan 2026 00:00:00 GMT"
    assert len(predicate["configuration"][0]["digest"]["sha256"]) == 64
