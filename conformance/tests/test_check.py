"""Recorded traffic, judged: the same verdicts as live, and nothing concluded from what is missing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from conformance.check import CheckOptions, check
from conformance.cli import main
from conformance.errors import CaptureError
from conformance.spec.endpoints import PROFILE, ROLES
from conformance.tests.replays import written as capture_of
from conformance.tests.traffic import account, answer
from conformance.tests.traffic import envelope as whole_envelope
from conformance.traffic import capture
from conformance.traffic.capture.bodies import body_of
from conformance.traffic.exchange import Exchange, Json, Request, Response

DIALECTS = Path(__file__).parent / "dialects"
SYSTEM = "http://portal.example.test/web/v1/system"


def envelope(**changes: Json) -> Json:
    return whole_envelope(timestamp=1767225600123, data=[]) | changes


JSON = [("content-type", "application/json")]
HEADERS = [
    ("x-portal-access-code", "[access-code-1]"),
    ("x-client-hash", "c-1"),
    ("authorization", "Bearer [token-1]"),
]


def exchange(path: str = "/roles", *, body: Json = None, **changes: Any) -> Exchange:
    held, form = body_of(json.dumps(envelope() if body is None else body).encode())
    whole: dict[str, Any] = {
        "n": 1,
        "started": "2026-01-01T00:00:00.250+00:00",
        "request": Request(method="GET", url=path if "://" in path else SYSTEM + path, headers=HEADERS),
        "response": Response(status=200, headers=JSON, body=held, form=form),
    }
    return Exchange(**{**whole, **changes})


def written(folder: Path, *exchanges: Exchange) -> Path:
    return capture_of(folder / "traffic.jsonl", *exchanges)


def verdicts(run: Json) -> dict[str, str]:
    return {row["id"]: row["verdict"] for row in run["requirements"]}


def results(out: Path) -> Json:
    return json.loads((out / "results.json").read_text())


def test_exchanges_are_numbered_through_all_files_as_in_the_evidence(tmp_path: Path) -> None:
    one = written(tmp_path, exchange(n=7))
    (tmp_path / "b").mkdir()
    other = written(tmp_path / "b", exchange(body=envelope(timestamp=1), n=7))

    check([one, other], CheckOptions(out=tmp_path / "out"))

    run = results(tmp_path / "out")
    (finding,) = run["findings"]
    assert (run["command"], run["exit_code"], finding["path"]) == ("check", 1, "timestamp")
    assert all((tmp_path / "out" / name).exists() for name in ("report.html", "junit.xml", "summary.md"))
    lines = (tmp_path / "out" / "exchanges.jsonl").read_text().splitlines()
    assert finding["exchanges"] == [2]
    assert json.loads(lines[1])["n"] == 2


@pytest.mark.parametrize("form", ["omitted", "truncated", "sanitized", "undecodable"])
def test_a_body_that_is_not_there_proves_nothing(tmp_path: Path, form: str) -> None:
    unknown = Response(status=200, form=form)  # type: ignore[arg-type]

    checked = check([written(tmp_path, exchange(response=unknown))], CheckOptions(out=tmp_path / "out"))

    assert checked.run.exit_code == 5
    assert set(verdicts(results(tmp_path / "out")).values()) == {"untested"}
    assert results(tmp_path / "out")["coverage"]["unknown_bodies"] == {f"response {form}": 1}
    is_advised = any(
        "Where the source is a HAR file, save it with content." in each for each in checked.run.notes
    )
    assert is_advised == (form != "undecodable")


OWN = [("x-vendor-key", "05fcb878d6457cdfcb38e68e58ce3b282b2c27f5")]


@pytest.mark.parametrize("code, taken", [("[access-code-1]", 0), ("Zq81kfP0vR7x", 1)])
def test_a_record_that_is_redacted_already_has_no_secrets_left_to_look_for(
    code: str, taken: int, tmp_path: Path
) -> None:
    request = Request(method="GET", url=f"{SYSTEM}/roles", headers=[("x-portal-access-code", code), *OWN])

    checked = check([written(tmp_path, exchange(request=request))], CheckOptions(out=tmp_path / "out"))

    assert sum("such values look like secrets" in note for note in checked.run.notes) == taken


@pytest.mark.parametrize("lacks, verdict", [(("authorization", "cookie"), "untested"), ((), "fail")])
def test_a_missing_authorization_is_held_against_the_portal_unless_it_was_sanitized(
    lacks: tuple[str, ...], verdict: str, tmp_path: Path
) -> None:
    headers = [("x-portal-access-code", "c"), ("x-client-hash", "c")]
    bare = Request(method="GET", url=f"{SYSTEM}/roles", headers=headers, lacks=lacks)

    check([written(tmp_path, exchange(request=bare))], CheckOptions(out=tmp_path / "out"))

    assert verdicts(results(tmp_path / "out"))["AUTHN-001"] == verdict


def test_no_answer_is_no_answer(tmp_path: Path) -> None:
    path = written(tmp_path, exchange(response=None, error="connection reset"))

    assert check([path], CheckOptions(out=tmp_path / "out")).run.exit_code == 5
    assert results(tmp_path / "out")["coverage"]["unanswered"] == 1


def test_a_file_that_is_no_capture_says_which_files_are(tmp_path: Path) -> None:
    check([written(tmp_path, exchange())], CheckOptions(tmp_path / "out"))
    (tmp_path / "portal.toml").write_text("profile = 1\n")
    for name, said in (
        ("out/results.json", r"results\.json:1: this is no capture\..*compare` reads"),
        ("portal.toml", r"Give a capture that .* wrote, or a HAR file"),
    ):
        with pytest.raises(CaptureError, match=said):
            check([tmp_path / name], CheckOptions(tmp_path / "other"))


def test_a_page_in_place_of_the_envelope_is_not_judged_and_named(tmp_path: Path) -> None:
    page = Response(status=200, headers=[("content-type", "text/html")], body={"length": 13}, form="not-json")
    checked = check([written(tmp_path, exchange(response=page))], CheckOptions(tmp_path / "out"))
    assert "0 exchanges of the specification's endpoints were judged." in checked.run.notes
    taken = "taken for that of a firewall or proxy, not judged."
    assert (
        f"1 answer is an HTML page in place of the envelope (GET /web/v1/system/roles): {taken}"
        in checked.run.notes
    )
    assert checked.run.summary.fail == 0


def at_two_hosts(tmp_path: Path) -> Path:
    hosts = ("http://a.example.test:8080", "https://b.example.test", "https://b.example.test:443")
    return written(tmp_path, *(exchange(f"{host}/web/v1/system/roles") for host in hosts))


@pytest.mark.parametrize(
    "target, judged",
    [
        ("b.example.test", 2),
        ("https://B.example.test/", 2),
        ("http://b.example.test", 0),
        ("a.example.test:8080", 1),
        ("http://a.example.test:80", 0),
        ("https://b.example.test/web/v", 0),
    ],
)
def test_a_target_is_a_host_or_a_whole_address(tmp_path: Path, target: str, judged: int) -> None:
    checked = check([at_two_hosts(tmp_path)], CheckOptions(out=tmp_path / "out", target=target))

    assert checked.exchanges == judged


def test_several_hosts_are_named_with_their_exchanges_and_what_chooses_one(tmp_path: Path) -> None:
    run = check([at_two_hosts(tmp_path)], CheckOptions(out=tmp_path / "out")).run

    note = next(note for note in run.notes if note.startswith("Several hosts"))
    assert "as one portal: a.example.test:8080 (1), b.example.test (1), b.example.test:443 (1). " in note
    assert note.endswith("check each alone, such as with --target a.example.test:8080.")


def test_a_target_that_no_request_went_to_is_told_with_the_hosts_that_there_are(tmp_path: Path) -> None:
    options = CheckOptions(out=tmp_path / "out", target="c.example.test")

    assert (
        "None of the recorded requests went to c.example.test, which --target names. The portal's paths were "
        "requested at a.example.test:8080 (1), b.example.test (1), b.example.test:443 (1)."
    ) in check([at_two_hosts(tmp_path)], options).run.notes


def test_other_paths_and_hosts_are_set_aside_and_counted_and_one_is_named_without_its_query(
    tmp_path: Path,
) -> None:
    others = ("me:pw@portal.example.test/a.js?token=t", "me:pw@portal.example.test/b.js?token=t")
    elsewhere = (*others, "cdn.example.test/web/v1/system/roles")
    path = written(tmp_path, exchange(), *(exchange(f"http://{url}") for url in elsewhere))

    checked = check([path], CheckOptions(out=tmp_path / "out", target="http://portal.example.test"))

    assert checked.exchanges == 1
    assert results(tmp_path / "out")["set_aside"] == {"another path": 2, "another host or path": 1}
    said = "2 entries were set aside: another path (such as GET http://portal.example.test/a.js)."
    assert said in checked.run.notes


def test_coverage_names_operations_fields_and_codes(tmp_path: Path) -> None:
    refused = envelope(success=False, code="ACCESS.PERMISSION_DENIED", data=None)
    denied = Response(status=403, headers=JSON, body=refused)
    partial = exchange("/profile", body=envelope(data={"bizId": "a"}))

    check([written(tmp_path, partial, exchange(response=denied))], CheckOptions(out=tmp_path / "out"))

    coverage = results(tmp_path / "out")["coverage"]
    assert coverage["operations"]["seen"] == {PROFILE: 1, ROLES: 1}
    assert len(coverage["operations"]["missing"]) == 86
    fields = coverage["fields"][PROFILE]
    assert fields["seen"] == 1
    assert "data.accountPortal.code" in fields["missing"]
    assert coverage["codes"]["seen"] == {"ACCESS.PERMISSION_DENIED": 1}
    assert "GA2031" in coverage["codes"]["missing"]


def test_every_dialect_is_judged(tmp_path: Path) -> None:
    files = [path for path in sorted(DIALECTS.glob("*.har")) if path.name != "truncated.har"]

    checked = check(files, CheckOptions(out=tmp_path / "out"))

    assert checked.exchanges > 20
    assert not [row for row in checked.run.findings if row.requirement.startswith("AUTHN")]


def test_a_file_that_breaks_is_refused_unless_the_user_says_so(tmp_path: Path) -> None:
    with pytest.raises(CaptureError, match=r"truncated\.har:\d+: the file ends .*--salvage"):
        check([DIALECTS / "truncated.har"], CheckOptions(out=tmp_path / "out"))

    checked = check([DIALECTS / "truncated.har"], CheckOptions(out=tmp_path / "out", salvage=True))

    assert checked.exchanges == 2
    assert any("2 entries before it were used" in note for note in checked.run.notes)


def test_an_interrupted_check_reports_what_it_has_judged(tmp_path: Path) -> None:
    def interrupt(exchange: Exchange) -> None:
        if exchange.n == 3:
            raise KeyboardInterrupt

    options = CheckOptions(out=tmp_path / "reports")
    checked = check([written(tmp_path, *[exchange()] * 9)], options, listeners=[interrupt])

    assert checked.run.exit_code == 2
    assert len((tmp_path / "reports" / "exchanges.jsonl").read_text().splitlines()) == 3
    assert (tmp_path / "reports" / "report.html").exists()


def test_a_baseline_accepts_what_is_known_and_nothing_else(tmp_path: Path) -> None:
    known = str(tmp_path / "known.toml")

    late = written(tmp_path, exchange(), exchange(body=envelope(timestamp=1767225600)))

    def code(*more: str, body: Json = None) -> int:
        file = late
        if body is not None:
            file = tmp_path / "other.jsonl"
            file.write_bytes(msgspec.json.encode(exchange(body=body)))
        return main(["check", str(file), "--out", str(tmp_path / "out"), *more])

    def listed(kind: str) -> Json:
        return results(tmp_path / "out")["baseline"][kind]

    assert code() == 1
    assert code("--known", known) == 4
    assert main(["compare", str(tmp_path / "out"), "--known", known, "--accept", "all"]) == 0
    assert code("--known", known) == 0
    assert listed("known")

    assert code("--known", known, body=envelope(timestamp=1767225600, code=17)) == 1
    assert listed("new")

    assert code("--known", known, body=envelope()) == 1
    assert listed("stale")


def test_a_file_that_cannot_be_read_leaves_the_reports_of_before_and_creates_none(tmp_path: Path) -> None:
    good, bad, out = tmp_path / "good.jsonl", tmp_path / "bad.jsonl", tmp_path / "deep" / "reports"
    with capture.Writer(good) as writer:
        writer.write(answer(PROFILE, account()))
    bad.write_bytes(good.read_bytes() + b"no JSON\n" + good.read_bytes())

    for file in (bad, tmp_path / "nowhere.jsonl"):
        with pytest.raises(CaptureError):
            check([file], CheckOptions(out=out))
        assert not out.parent.exists()

    check([good], CheckOptions(out=out))
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    with pytest.raises(CaptureError):
        check([bad], CheckOptions(out=out))

    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


EMPTY = "The files hold no exchange. Give a capture that `record` wrote, or a HAR file"
ELSEWHERE = "None of the recorded requests is one of the portal's: none has /web/v1/"


@pytest.mark.parametrize(
    ("name", "content", "note"),
    [("empty.jsonl", "", EMPTY), ("empty.har", '{"log": {"entries": []}}', EMPTY), ("", "", ELSEWHERE)],
)
def test_where_nothing_is_judged_it_says_what_is_wanted(
    tmp_path: Path, name: str, content: str, note: str
) -> None:
    file = written(tmp_path, exchange("http://third.example.test/elsewhere"))
    if name:
        file = tmp_path / name
        file.write_text(content)

    assert any(line.startswith(note) for line in check([file], CheckOptions(out=tmp_path / "out")).run.notes)
