"""The HTML report needs nothing but itself, lets nothing of a target's in, and stays small."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from conformance.report.formats.html.run_page import report
from conformance.report.model.evidence import read
from conformance.report.model.severity import COMPARING
from conformance.spec import REQUIREMENTS
from conformance.tests.hostile_portal import hostile
from conformance.tests.page_files import PageFiles
from conformance.tests.sample_run import (
    PROFILE,
    card_of,
    conformant,
    envelope,
    exchange,
    page_of,
    row_of,
    sample,
    with_rows,
)

VOID = {"meta", "input", "br", "wbr", "hr", "img", "link", "rect", "path", "circle"}
THREE_MEGABYTES = 3_000_000


class Page(HTMLParser):
    """Every element with its attributes, ids, and the texts of style, script and the whole."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.texts: dict[str, str] = {}
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        tag = self.open[-1] if self.open else ""
        self.texts[tag] = self.texts.get(tag, "") + data

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]

    @property
    def text(self) -> str:
        return "\n".join(text for tag, text in self.texts.items() if tag not in ("script", "style"))


def test_every_page_loads_nothing_and_names_only_its_own_style_and_script(tmp_path: Path) -> None:
    files = PageFiles(tmp_path)
    for name in ("hostile", "compare", "matrix", "history"):
        page = Page(files[name].read_text(encoding="utf-8"))

        loading = {"link", "img", "iframe", "object", "embed", "base", "form"}
        assert not loading & {tag for tag, _ in page.elements}, name
        assert len(page.all("script")) == len(page.all("style")) == 1, name
        for _, attributes in page.elements:
            assert not {"style", "src", "srcset"} & attributes.keys(), name
            assert not [key for key in attributes if key.startswith("on")], name
            assert str(attributes.get("href", "#")).startswith("#"), name
        metas = {one.get("http-equiv"): one.get("content") for one in page.all("meta")}
        policy = metas["Content-Security-Policy"] or ""
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        for tag in ("script", "style"):
            digest = base64.b64encode(hashlib.sha256(page.texts[tag].encode()).digest()).decode()
            assert f"{tag}-src 'sha256-{digest}'" in policy, name


def test_no_text_of_a_target_becomes_markup_or_moves_others_or_makes_the_page_large(tmp_path: Path) -> None:
    html = page_of(hostile(), tmp_path)

    assert Page(html).open in ([], ["html"])
    for raw in ("<script>window", "<img", "<svg onload", "<iframe", "onerror='", "<details open ontoggle"):
        assert raw not in html
    unseen = "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufffe]"
    assert not re.search(unseen, html)
    assert "‹U+202E›" in html
    assert "␀" in html
    assert len(html.encode()) < THREE_MEGABYTES


def test_the_page_stays_under_three_megabytes_however_much_fails(tmp_path: Path) -> None:
    made = conformant()
    for at, row in enumerate(REQUIREMENTS, 50):
        body = envelope({f"k{n}": f"{at:x>300}" for n in range(200)})
        seen = exchange(at, PROFILE, sent={"y": "z" * 5_000}, answer=body, headers=[("x", "h" * 5_000)] * 60)
        made.add(seen)
        for number in range(3):
            told = {"path": f"data.k{number}", "expected": "w" * 500 + row, "message": "m" * 900}
            made.contradict(row, made.exchanges[0], seen, **told)
        made.ledger.leave_untested(row, "r" * 5_000 + row)
    html = page_of(made, tmp_path)

    assert len(html.encode()) < THREE_MEGABYTES
    assert "further findings are in results.json only" in html
    assert html.count('class="panel finding') > 80  # the rules themselves take room, and more with each


def test_evidence_is_left_out_by_name_before_findings_are(tmp_path: Path) -> None:
    made = conformant()
    of_one_answer = [row for row in REQUIREMENTS if row not in COMPARING]
    for at, row in enumerate(of_one_answer[:250], 50):
        seen = exchange(at, PROFILE, answer=envelope({f"k{n}": "x" * 200 for n in range(80)}))
        made.add(seen)
        made.contradict(row, seen, path="data.k0", expected=at)
    html = page_of(made, tmp_path)

    contradicted = {one.requirement for one in made.run().findings if one.verdict != "open"}
    assert html.count('class="panel finding') == len(contradicted)
    assert "Left out to keep this page small. See lines #" in html
    assert "The page leaves out the exchanges of" in html
    assert "exchanges.jsonl has them" in html


def test_a_finding_names_rule_endpoint_place_expected_seen_cause_and_how_to_repeat_it(tmp_path: Path) -> None:
    html = page_of(sample(), tmp_path)
    card = card_of(html, "ENV-008")

    for told in (
        "On an error <code>data</code> is null.",
        "/web/v1/system/auth/login/initiate",
        '<mark class="expected"><i>data</i>: null</mark>',
        '<mark class="seen">  <i>data</i>: {}</mark>',
        "fills data with a default",
        "401 Unauthorized",
        "run --rerun cases/sample.py::test_case --target https://portal.example.test --profile staging.toml",
        "curl -sS -i -X POST https://portal.example.test/web/v1/system/auth/login/initiate",
        "$ACCESS_CODE_1",
        "known.toml --accept=",
    ):
        assert told in card, told


def test_encrypted_exchanges_are_shown_in_both_forms(tmp_path: Path) -> None:
    html = page_of(sample(), tmp_path)
    card = card_of(html, "SECURE-007")

    assert "Request as sent" in card
    assert "Request, decrypted" in card
    assert "<i>newPassword</i>: &#34;[password-2]&#34;" in card
    assert "curl" not in card


def test_known_findings_come_last_and_are_marked(tmp_path: Path) -> None:
    run = sample().run()
    entry = row_of(next(one for one in run.findings if one.requirement == "ENV-008"))
    html = report(with_rows(run, entry), read(tmp_path / "none", ()))

    assert html.index('id="finding-ENV-011"') < html.index('id="finding-ENV-008"')
    card = card_of(html, "ENV-008")
    assert ("v-known" in card, "--accept=" in card) == (True, False)


@pytest.mark.parametrize("strict", [False, True])
def test_a_warning_is_new_only_where_strict_and_is_accepted_by_its_id(tmp_path: Path, strict: bool) -> None:
    run = sample().run(strict=strict)
    html = report(with_rows(run), read(tmp_path / "none", ()))

    for rule, is_new in (("ENV-008", True), ("ACCOUNT-015", strict)):
        card = card_of(html, rule)
        assert ("v-new" in card) is is_new
        assert "--known known.toml --accept=" in card


def test_every_requirement_and_reason_is_on_the_page_and_every_link_leads_somewhere(tmp_path: Path) -> None:
    page = Page(page_of(sample(), tmp_path))
    ids = [attributes["id"] for _, attributes in page.elements if attributes.get("id")]

    assert len(ids) == len(set(ids))
    assert set(REQUIREMENTS) <= set(ids)
    assert "the profile gives no [bot_challenge]" in page.text
    assert [one["href"] for one in page.all("a") if str(one["href"])[1:] not in ids] == []
