"""Recorded traffic, judged: the same verdicts as live, and nothing concluded from what is missing."""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from pathlib import Path

import httpx
import pytest
from msgspec.structs import replace

from conformance import record
from conformance.check import CheckOptions, check
from conformance.cli import main
from conformance.errors import CaptureError, UsageError
from conformance.tests.traffic import account, answer
from conformance.tests.traffic import envelope as whole_envelope
from conformance.traffic import capture
from conformance.traffic.capture.bodies import body_of
from conformance.traffic.exchange import Exchange, Json, Request, Response
from conformance.verdicts.coverage import Coverage, coverage_from
from reference_impl import serve as reference

DIALECTS = Path(__file__).parent / "dialects"
SYSTEM = "http://portal.example.test/web/v1/system"


def envelope(**changes: Json) -> Json:
    return whole_envelope(timestamp=1767225600123, data=[]) | changes


HEADERS = [
    ("x-portal-access-code", "[access-code-1]"),
    ("x-client-hash", "c-1"),
    ("authorization", "Bearer [token-1]"),
]


def exchange(path: str = "/roles", *, body: Json = None, **changes: object) -> Exchange:
    held, form = body_of(json.dumps(envelope() if body is None else body).encode())
    own = [("content-type", "application/json")]
    whole: dict[str, object] = {
        "n": 1,
        "started": "2026-01-01T00:00:00.250+00:00",
        "request": Request(method="GET", url=path if "://" in path else SYSTEM + path, headers=HEADERS),
        "response": Response(status=200, headers=own, body=held, form=form),
    }
    return Exchange(**{**whole, **changes})  # type: ignore[arg-type]


def written(folder: Path, *exchanges: Exchange) -> Path:
    path = folder / "traffic.jsonl"
    with capture.Writer(path) as writer:
        for one in exchanges:
            writer.write(one)
    return path


def verdicts(run: Json) -> dict[str, str]:
    return {row["id"]: row["verdict"] for row in run["requirements"]}


def results(out: Path) -> Json:
    return json.loads((out / "results.json").read_text())


def test_what_contradicts_the_specification_is_found_without_a_target(tmp_path: Path) -> None:
    path = written(tmp_path, exchange(), exchange(body=envelope(timestamp=1767225600)))

    checked = check([path], CheckOptions(out=tmp_path / "out"))

    assert checked.run.exit_code == 1
    (finding,) = results(tmp_path / "out")["findings"]
    assert (finding["path"], finding["exchanges"]) == ("timestamp", [2])


def test_the_reports_are_those_of_a_run(tmp_path: Path) -> None:
    check([written(tmp_path, exchange())], CheckOptions(out=tmp_path / "out"))

    run = results(tmp_path / "out")
    assert run["command"] == "check"
    for name in ("report.html", "junit.xml", "summary.md"):
        assert (tmp_path / "out" / name).stat().st_size > 100
    assert len((tmp_path / "out" / "exchanges.jsonl").read_text().splitlines()) == 1


def test_exchanges_are_numbered_through_all_files_as_in_the_evidence(tmp_path: Path) -> None:
    one = written(tmp_path, exchange(n=7))
    (tmp_path / "b").mkdir()
    other = written(tmp_path / "b", exchange(body=envelope(timestamp=1), n=7))

    check([one, other], CheckOptions(out=tmp_path / "out"))

    (finding,) = results(tmp_path / "out")["findings"]
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
    assert "0 exchanges were judged." in checked.run.notes
    taken = "taken for that of a firewall or proxy, not judged."
    assert (
        f"1 answer is an HTML page in place of the envelope (GET /web/v1/system/roles): {taken}"
        in checked.run.notes
    )
    assert checked.run.summary.fail == 0


def test_pages_of_many_endpoints_are_named_in_one_line() -> None:
    coverage = Coverage(pages=Counter({f"GET /{name}": 1 for name in "abcd"}))
    whole = coverage_from(coverage.merged(coverage).as_json())

    said = "8 answers are HTML pages in place of the envelope (GET /a, GET /b, GET /c and others)"
    assert said in " ".join(whole.sentences())


def at_two_hosts(tmp_path: Path) -> Path:
    hosts = ("http://a.example.test:8080", "https://b.example.test", "https://b.example.test:443")
    return written(tmp_path, *(exchange(f"{host}/web/v1/system/roles") for host in hosts))


def test_several_hosts_are_named_with_their_exchanges_and_what_chooses_one(tmp_path: Path) -> None:
    check([at_two_hosts(tmp_path)], CheckOptions(out=tmp_path / "out"))

    note = next(note for note in results(tmp_path / "out")["notes"] if note.startswith("Several hosts"))
    assert "as one portal: a.example.test:8080 (1), b.example.test (1), b.example.test:443 (1). " in note
    assert note.endswith("check each alone, such as with --target a.example.test:8080.")


@pytest.mark.parametrize(
    "target, judged",
    [
        ("b.example.test", 2),
        ("https://B.example.test/", 2),
        ("http://b.example.test", 0),
        ("a.example.test:8080", 1),
        ("http://a.example.test:8080/web", 1),
        ("http://a.example.test:80", 0),
        ("https://b.example.test/web/v", 0),
    ],
)
def test_a_target_is_a_host_or_a_whole_address(tmp_path: Path, target: str, judged: int) -> None:
    checked = check([at_two_hosts(tmp_path)], CheckOptions(out=tmp_path / "out", target=target))

    assert checked.exchanges == judged


@pytest.mark.parametrize("workers", [1, 2])
def test_a_target_that_no_request_went_to_is_told_with_the_hosts_that_there_are(
    tmp_path: Path, workers: int
) -> None:
    options = CheckOptions(out=tmp_path / "out", target="c.example.test", workers=workers)
    check([at_two_hosts(tmp_path)], options)

    assert (
        "None of the recorded requests went to c.example.test, which --target names. The portal's paths were "
        "requested at a.example.test:8080 (1), b.example.test (1), b.example.test:443 (1)."
    ) in results(tmp_path / "out")["notes"]


def test_other_paths_and_hosts_are_set_aside_and_counted(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        exchange(),
        exchange("http://portal.example.test/app.js"),
        exchange("http://cdn.example.test/web/v1/system/roles"),
    )

    checked = check([path], CheckOptions(out=tmp_path / "out", target="http://portal.example.test"))

    assert checked.exchanges == 1
    assert results(tmp_path / "out")["set_aside"] == {"another path": 1, "another host or path": 1}
    notes = results(tmp_path / "out")["notes"]
    assert "1 entry was set aside: another path (GET http://portal.example.test/app.js)." in notes


@pytest.mark.parametrize("workers", [1, 2])
def test_one_of_the_entries_that_are_set_aside_is_named_without_its_query(
    tmp_path: Path, workers: int
) -> None:
    others = (exchange(f"http://me:pw@portal.example.test/{name}?token=t") for name in ("a.js", "b.js"))
    path = written(tmp_path, exchange(), *others)

    notes = check([path], CheckOptions(out=tmp_path / "out", workers=workers)).run.notes

    said = "2 entries were set aside: another path (such as GET http://portal.example.test/a.js)."
    assert said in notes


def test_coverage_names_operations_fields_and_codes(tmp_path: Path) -> None:
    refused = envelope(success=False, code="ACCESS.PERMISSION_DENIED", data=None)
    denied = Response(status=403, headers=[("content-type", "application/json")], body=refused)
    path = written(
        tmp_path, exchange("/profile", body=envelope(data={"bizId": "a"})), exchange(response=denied)
    )

    check([path], CheckOptions(out=tmp_path / "out"))

    coverage = results(tmp_path / "out")["coverage"]
    assert coverage["operations"]["seen"] == {
        "GET /web/v1/system/profile": 1,
        "GET /web/v1/system/roles": 1,
    }
    assert len(coverage["operations"]["missing"]) == 86
    fields = coverage["fields"]["GET /web/v1/system/profile"]
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
    with pytest.raises(CaptureError, match="--salvage"):
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
    late = written(tmp_path, exchange(), exchange(body=envelope(timestamp=1767225600)))
    (tmp_path / "worse").mkdir()
    worse = written(tmp_path / "worse", exchange(body=envelope(timestamp=1767225600, code=17)))
    (tmp_path / "clean").mkdir()
    clean = written(tmp_path / "clean", exchange())
    known = str(tmp_path / "known.toml")
    out = ["--out", str(tmp_path / "out")]

    assert main(["check", str(late), *out]) == 1
    assert main(["check", str(late), *out, "--baseline", known]) == 4
    assert main(["check", str(late), *out, "--baseline", known, "--baseline-update"]) == 0
    assert main(["check", str(late), *out, "--baseline", known]) == 0
    assert [one["requirement"] for one in results(tmp_path / "out")["baseline"]["known"]] != []

    assert main(["check", str(worse), *out, "--baseline", known]) == 1
    assert results(tmp_path / "out")["baseline"]["new"] != []

    assert main(["check", str(clean), *out, "--baseline", known]) == 1
    assert results(tmp_path / "out")["baseline"]["stale"] != []


def test_no_file_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="at least one"):
        check([], CheckOptions(out=tmp_path / "out"))


def test_what_the_recorder_writes_is_judged_without_a_failure(tmp_path: Path) -> None:
    with reference.start() as portal:
        profile = tomllib.loads(portal.profile())
        headers = {"X-PORTAL-ACCESS-CODE": profile["portal"]["access_code"], "X-Client-Hash": "c-1"}
        with record.serve(portal.url, tmp_path / "traffic.jsonl") as recording:
            client = httpx.Client(base_url=recording.url, headers=headers)
            account = profile["accounts"]["admin"]
            login = {"email": account["email"], "password": account["password"]}
            client.post("/web/v1/system/auth/login/initiate", json=login)
            client.get("/web/v1/system/profile")
            client.get("/web/v1/secure-channel/public-key")

    checked = check([tmp_path / "traffic.jsonl"], CheckOptions(out=tmp_path / "out"))

    assert checked.run.exit_code == 0, checked.run.findings
    assert checked.run.summary.pass_ > 20


def test_without_the_cache_the_results_are_the_same(tmp_path: Path) -> None:
    traffic = [exchange(n=number) for number in (1, 2, 3)]
    file = written(tmp_path, *traffic, exchange(n=4, body=envelope(message=None)))

    for name, options in (("cached", []), ("anew", ["--no-cache"])):
        assert main(["check", str(file), "--out", str(tmp_path / name), *options]) == 1

    cached, anew = (json.loads((tmp_path / name / "results.json").read_text()) for name in ("cached", "anew"))
    for part in ("summary", "requirements", "findings", "observations", "coverage"):
        assert cached[part] == anew[part]
    lines = [(tmp_path / name / "exchanges.jsonl").read_text() for name in ("cached", "anew")]
    assert lines[0] == lines[1]


@pytest.mark.parametrize("workers", [1, 2])
def test_a_file_that_cannot_be_read_leaves_the_reports_of_before_and_creates_none(
    tmp_path: Path, workers: int
) -> None:
    good, bad, out = tmp_path / "good.jsonl", tmp_path / "bad.jsonl", tmp_path / "deep" / "reports"
    with capture.Writer(good) as writer:
        writer.write(answer("GET /web/v1/system/profile", account()))
    bad.write_bytes(good.read_bytes() + b"no JSON\n" + good.read_bytes())

    for file in (bad, tmp_path / "nowhere.jsonl"):
        with pytest.raises(CaptureError):
            check([file], CheckOptions(out=out, workers=workers))
        assert not out.parent.exists()

    check([good], CheckOptions(out=out, workers=workers))
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    with pytest.raises(CaptureError):
        check([bad], CheckOptions(out=out, workers=workers))

    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


EMPTY = "The files hold no exchange. Give a capture that `record` wrote, or a HAR file"
ELSEWHERE = "None of the recorded requests "


@pytest.mark.parametrize(
    ("name", "content", "target", "note"),
    [
        ("empty.jsonl", "", None, EMPTY),
        ("empty.har", '{"log": {"entries": []}}', None, EMPTY),
        ("", None, None, f"{ELSEWHERE}is one of the portal's: none has /web/v1/"),
        ("", None, "http://other.example.test", f"{ELSEWHERE}went to http://other.example.test"),
    ],
)
def test_where_nothing_is_judged_it_says_what_is_wanted(
    tmp_path: Path, name: str, content: str | None, target: str | None, note: str
) -> None:
    file = written(tmp_path, exchange("http://third.example.test/elsewhere"))
    if content is not None:
        file = tmp_path / name
        file.write_text(content)

    checked = check([file], CheckOptions(out=tmp_path / "out", target=target))

    assert any(line.startswith(note) for line in checked.run.notes)


def test_the_result_says_how_many_exchanges_were_judged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sealed = exchange(body={"v": 1, "p": "c2VhbGVk"})
    headers = [*sealed.request.headers, ("x-secure-channel-session-id", "a-session")]
    unread = [
        replace(sealed, request=replace(sealed.request, headers=headers)),
        exchange(response=Response(status=200, form="omitted")),
        exchange(response=None, error="reset"),
        exchange("http://elsewhere.example.test/other"),
    ]
    path = written(tmp_path, exchange(), exchange(), *unread)

    main(["check", str(path), "--out", str(tmp_path / "out")])

    shown = capsys.readouterr().out
    assert "2 exchanges were judged." in shown
    assert "1 answer is encrypted, and was not judged: " in shown
