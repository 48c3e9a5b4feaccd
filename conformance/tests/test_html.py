"""The HTML report needs nothing but itself, lets nothing of a target's in, and stays small."""

from __future__ import annotations

import base64
import hashlib
import re
from datetime import date
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest

from conformance.report.across import baseline, compare, compare_pages, history, matrix
from conformance.report.formats.html.overview import overview
from conformance.report.formats.html.run_page import report
from conformance.report.formats.write import write_all
from conformance.report.model.evidence import read
from conformance.report.model.run import BaselineEntry, BaselineOutcome, Ending, Run
from conformance.report.model.words import levels
from conformance.spec import REQUIREMENTS
from conformance.spec.endpoints import ACCOUNTS_QUERY
from conformance.tests.hostile_portal import TEXTS, hostile
from conformance.tests.sample_run import PROFILE, ROLES, Sample, conformant, envelope, exchange, sample
from conformance.verdicts.findings import Contradiction, OtherPlace

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
        self.texts[self.open[-1] if self.open else ""] = (
            self.texts.get(self.open[-1] if self.open else "", "") + data
        )

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]

    @property
    def text(self) -> str:
        return "\n".join(text for tag, text in self.texts.items() if tag not in ("script", "style"))


def html_of(made: Sample, tmp_path: Path, **changes: object) -> str:
    write_all(made.run(**changes), tmp_path, exchanges=made.write(tmp_path / "exchanges.jsonl"))
    return (tmp_path / "report.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def hostile_html(tmp_path_factory: pytest.TempPathFactory) -> str:
    return html_of(hostile(), tmp_path_factory.mktemp("hostile"))


def pages(tmp_path: Path) -> dict[str, str]:
    """Each kind of page, made from hostile runs."""
    bad, good = hostile().run(), conformant().run()
    history.record(bad, tmp_path / "history.sqlite")
    return {
        "report": report(bad, read(tmp_path / "none", ())),
        "compare": compare_pages.as_html(compare.compare(good, bad)),
        "matrix": matrix.as_html(matrix.matrix([good, bad], [TEXTS[0], TEXTS[3]])),
        "history": history.as_html(history.trend(tmp_path / "history.sqlite")),
    }


def test_every_page_loads_nothing_and_names_only_its_own_style_and_script(tmp_path: Path) -> None:
    for name, html in pages(tmp_path).items():
        page = Page(html)

        assert not {"link", "img", "iframe", "object", "embed", "base", "form"} & {
            tag for tag, _ in page.elements
        }, name
        assert len(page.all("script")) == len(page.all("style")) == 1, name
        for _, attributes in page.elements:
            assert not [
                key for key in attributes if key.startswith("on") or key in ("style", "src", "srcset")
            ], name
            assert str(attributes.get("href", "#")).startswith("#"), name
        policy = next(
            one["content"] for one in page.all("meta") if one.get("http-equiv") == "Content-Security-Policy"
        )
        assert policy is not None
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        for tag in ("script", "style"):
            digest = base64.b64encode(hashlib.sha256(page.texts[tag].encode()).digest()).decode()
            assert f"{tag}-src 'sha256-{digest}'" in policy, name


def test_the_policy_stands_before_anything_that_it_governs(tmp_path: Path) -> None:
    for html in pages(tmp_path).values():
        assert html.index("Content-Security-Policy") < min(
            html.index("<style"), html.index("<title"), html.index("<script")
        )


def test_no_text_of_a_target_becomes_markup(hostile_html: str) -> None:
    page = Page(hostile_html)

    assert page.open in ([], ["html"])
    for raw in ("<script>window", "<img", "<svg onload", "<iframe", "onerror='", "<details open ontoggle"):
        assert raw not in hostile_html


def test_no_unseen_character_of_a_target_reaches_the_page(hostile_html: str) -> None:
    assert not re.search(
        "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufffe]", hostile_html
    )
    assert "‹U+202E›" in hostile_html
    assert "␀" in hostile_html


def test_a_template_in_a_text_is_not_evaluated(hostile_html: str) -> None:
    assert "{{ 7 * 7 }}" in hostile_html


def test_the_page_stays_under_three_megabytes_whatever_the_target_sent(hostile_html: str) -> None:
    assert len(hostile_html.encode()) < THREE_MEGABYTES


def test_the_page_stays_under_three_megabytes_however_much_fails(tmp_path: Path) -> None:
    made = conformant()
    for at, row in enumerate(REQUIREMENTS, 50):
        body = envelope({f"k{n}": f"{at:x>300}" for n in range(200)})
        seen = exchange(at, PROFILE, sent={"y": "z" * 5_000}, answer=body, headers=[("x", "h" * 5_000)] * 60)
        made.add(seen)
        for number in range(3):
            made.contradict(
                row,
                made.exchanges[0],
                seen,
                path=f"data.k{number}",
                expected="w" * 500 + row,
                message="m" * 900,
            )
        made.ledger.leave_untested(row, "r" * 5_000 + row)
    html = html_of(made, tmp_path)

    assert len(html.encode()) < THREE_MEGABYTES
    assert "further findings are in results.json only" in html
    assert html.count('class="panel finding') > 80  # the rules themselves take room, and more with each


def test_evidence_is_left_out_by_name_before_findings_are(tmp_path: Path) -> None:
    made = conformant()
    for at, row in enumerate(list(REQUIREMENTS)[:250], 50):
        seen = exchange(at, PROFILE, answer=envelope({f"k{n}": "x" * 200 for n in range(80)}))
        made.add(seen)
        made.contradict(row, seen, path="data.k0", expected=at)
    html = html_of(made, tmp_path)

    assert html.count('class="panel finding') == len(
        {one.requirement for one in made.run().findings if one.verdict != "open"}
    )
    assert "Left out to keep this page small. See lines #" in html
    assert "The page leaves out the exchanges of" in html
    assert "exchanges.jsonl has them" in html


def test_a_thousand_requirements_and_ten_thousand_exchanges_are_written_whole(tmp_path: Path) -> None:
    run, exchanges = large(tmp_path)

    write_all(run, tmp_path / "out", exchanges=exchanges)

    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert all(f'id="{row.id}"' in page for row in run.requirements)
    assert len(page.encode()) < 3_000_000


def large(tmp_path: Path) -> tuple[Run, Path]:
    """1,000 requirements, 10,000 exchanges, 60 findings."""
    made = conformant()
    failing = [row.id for row in REQUIREMENTS.values() if row.level != "open"][:60]
    for at in range(40, 10_001):
        seen = exchange(
            at, PROFILE, answer=envelope({f"k{n}": n for n in range(30)}), after=at / 20, took=at % 90
        )
        made.add(seen)
        if at % 160 == 0 and failing:
            made.contradict(
                failing.pop(), made.exchanges[0], made.exchanges[-2], seen, path="data.k3", expected=f"x{at}"
            )
    run = made.run()
    more = [
        run.requirements[at % 700].model_copy(update={"id": f"MORE-{at:03d}"})
        for at in range(1_000 - len(run.requirements))
    ]
    run = run.model_copy(update={"requirements": [*run.requirements, *more]})
    return run, made.write(tmp_path / "exchanges.jsonl")


def test_the_top_says_target_time_permission_verdict_and_numbers(tmp_path: Path) -> None:
    html = html_of(sample(), tmp_path)
    top = html[html.index("<header") : html.index("</header")]

    for told in (
        "https://portal.example.test",
        "21 Nov 2026, 09:53 UTC",
        "read-only: sign in and read",
        "Not conformant",
        *(f"{held}<small> of {decided}</small>" for _, held, decided in levels(sample().run())),
    ):
        assert told in top
    assert "%" not in top


def test_a_finding_names_rule_endpoint_place_expected_seen_cause_and_how_to_see_it_again(
    tmp_path: Path,
) -> None:
    html = html_of(sample(), tmp_path)
    card = html[html.index('id="finding-ENV-008"') :]
    card = card[: card.index("</article>")]

    for told in (
        "On an error <code>data</code> is null.",
        "/web/v1/system/auth/login/initiate",
        '<mark class="expected"><i>data</i>: null</mark>',
        '<mark class="seen">  <i>data</i>: {}</mark>',
        "fills data with a default",
        "401 Unauthorized",
        "run --rerun cases/sample.py::test_case --target https://portal.example.test --profile staging.toml",
        "curl -sS -i -X POST https://portal.example.test/web/v1/system/auth/login/initiate",
        "$PORTAL_ACCESS_CODE",
        "[[known]]",
    ):
        assert told in card, told


def test_what_is_expected_stands_alone_without_a_body_that_nobody_sent(tmp_path: Path) -> None:
    html = html_of(sample(), tmp_path)

    for rule, expected in (
        ("ENV-008", "data: null"),
        ("ENV-011", "timestamp: an integer, epoch milliseconds"),
    ):
        card = html[html.index(f'id="finding-{rule}"') :]
        side = card[card.index("<h4>Expected</h4>") : card.index("<h4>Seen")]
        assert re.sub(r"<[^>]+>", " ", side).split() == ["Expected", *expected.replace(":", " :").split()]


def test_a_finding_of_two_answers_shows_what_the_other_answer_holds(tmp_path: Path) -> None:
    here = {"bizId": "account-1", "accountPhone": "+1 555 0199", "accountName": "Ada"}
    there = {"bizId": "account-1", "accountName": "Person Nine", "accountPhone": "+1 555 0100"}
    listed = {"accounts": [{"bizId": "account-0", "accountPhone": "+1 555 0111"}, there]}
    run = Sample()
    run.add(exchange(1, ACCOUNTS_QUERY, answer=envelope(listed)), exchange(2, PROFILE, answer=envelope(here)))
    contradiction = Contradiction(
        run.exchanges[1],
        "data.accountPhone",
        "+1 555 0100",
        "+1 555 0199",
        also=(run.exchanges[0],),
        other=OtherPlace(1, ACCOUNTS_QUERY, "account-1", "accountPhone"),
    )
    run.ledger.decide("AGREE-001", contradiction)

    html = html_of(run, tmp_path)
    card = html[html.index('id="finding-AGREE-001"') :]
    sides = card[: card.index("</article>")].partition("<details")[0]

    assert f"Disagrees with · the other answer: #1, {ACCOUNTS_QUERY}" in sides.replace("<wbr>", "")
    assert "Person Nine" in sides
    assert "+1 555 0111" not in sides


def test_the_entries_to_accept_are_those_of_every_place_of_a_card(tmp_path: Path) -> None:
    made = conformant()
    for number, call in ((40, PROFILE), (41, ROLES)):
        wrong = exchange(number, call, answer=envelope(message=1))
        made.contradict("ENV-006", wrong, path="message", expected="a text")

    html = html_of(made, tmp_path)

    card = html[html.index("<b>Accept it</b>") :]
    text = unescape(card[: card.index("</details>")])
    assert text.count("[[known]]") == 2
    assert PROFILE in text
    assert ROLES in text


def test_encrypted_exchanges_are_shown_in_both_forms(tmp_path: Path) -> None:
    html = html_of(sample(), tmp_path)
    card = html[html.index('id="finding-SECURE-007"') :]
    card = card[: card.index("</article>")]

    assert "Request as sent" in card
    assert "Request, decrypted" in card
    assert "<i>newPassword</i>: &#34;[password-2]&#34;" in card
    assert "curl" not in card


def test_the_steps_that_led_there_are_shown_in_order(tmp_path: Path) -> None:
    html = html_of(sample(), tmp_path)
    card = html[html.index('id="finding-LOGIN-030"') :]
    card = card[: card.index("</article>")]

    assert card.index(">#1<") < card.index(">#42<")
    assert "2 exchanges: #1 → #42" in card


def test_known_findings_come_last_and_are_marked(tmp_path: Path) -> None:
    run = sample().run()
    entry = baseline.KnownFailure(
        "ENV-008", next(one.signature for one in run.findings if one.requirement == "ENV-008"), "why"
    )
    result = baseline.compare(run, baseline.Baseline("known.toml", (entry,)), date(2026, 11, 21))
    html = report(run.model_copy(update={"baseline": result.record()}), read(tmp_path / "none", ()))

    assert html.index('id="finding-ENV-011"') < html.index('id="finding-ENV-008"')
    card = html[html.index('id="finding-ENV-008"') :]
    assert "v-known" in card[: card.index("</article>")]
    assert "why this is accepted" not in card[: card.index("</article>")]


@pytest.mark.parametrize("strict", [False, True])
def test_a_warning_is_new_and_to_be_accepted_only_where_strict(tmp_path: Path, strict: bool) -> None:
    run = sample().run(strict=strict)
    result = baseline.compare(run, baseline.Baseline("known.toml"), date(2026, 11, 21))
    html = report(run.model_copy(update={"baseline": result.record()}), read(tmp_path / "none", ()))

    for rule, is_new in (("ENV-008", True), ("ACCOUNT-015", strict)):
        card = html[html.index(f'id="finding-{rule}"') :]
        card = card[: card.index("</article>")]
        assert ("v-new" in card) is is_new
        assert ("why this is accepted" in card) is is_new


def test_every_requirement_and_every_reason_is_on_the_page(tmp_path: Path) -> None:
    page = Page(html_of(sample(), tmp_path))
    ids = [attributes["id"] for _, attributes in page.elements if attributes.get("id")]

    assert len(ids) == len(set(ids))
    assert set(REQUIREMENTS) <= set(ids)
    assert "the profile gives no [bot_challenge]" in page.text


def test_every_link_leads_somewhere_on_the_page(tmp_path: Path) -> None:
    page = Page(html_of(sample(), tmp_path))
    ids = {attributes.get("id") for _, attributes in page.elements}

    assert [one["href"] for one in page.all("a") if str(one["href"])[1:] not in ids] == []


def test_a_conformant_run_and_an_empty_one_have_a_page_as_well(tmp_path: Path) -> None:
    assert "No answer contradicts" in html_of(conformant(), tmp_path)
    assert "Inconclusive" in html_of(Sample(), tmp_path, exit_code=5, target_profile=None)


def test_an_inconclusive_run_says_at_the_top_why_and_what_helps(tmp_path: Path) -> None:
    run = sample().run(exit_code=5, ending=Ending(inconclusive="Fewer than 400 musts were tested."))
    write_all(run, tmp_path, exchanges=tmp_path / "exchanges.jsonl")
    html = (tmp_path / "report.html").read_text(encoding="utf-8")

    top = html[html.index("<h1>") : html.index('id="map"')]
    assert "Fewer than 400 musts were tested." in top
    assert "Why it is inconclusive" in top
    assert "the profile gives no [bot_challenge]" in top
    assert "The profile or an option can make it testable." in top
    assert "What fails" not in top


BUDGET = "a code takes 18 s, and the time budget leaves 14 s"


def test_what_the_impact_forbids_is_the_last_reason_of_an_inconclusive_run() -> None:
    run = sample().run(exit_code=5, ending=Ending(inconclusive="Too few."))
    why = [*["needs --impact disruptive; this run is allowed read-only"] * 3, BUDGET]
    able = [row for row in run.requirements if not row.untestable]
    rows = [
        row.model_copy(update={"verdict": "untested", "reason": reason})
        for row, reason in zip(able[:4], why, strict=True)
    ]

    shown = overview(run.model_copy(update={"requirements": rows, "findings": []}), 0)["blockers"]
    reasons = [str(row.statement) for row in shown]  # type: ignore[attr-defined]

    assert BUDGET in reasons[0]
    assert "needs --impact disruptive" in reasons[1]


def test_entries_of_a_baseline_that_fail_the_run_have_labels_of_their_own() -> None:
    entries = {name: [BaselineEntry(signature=f"ENV-001 {name}", requirement="ENV-001")] for name in LABELS}
    run = (
        conformant()
        .run(exit_code=1)
        .model_copy(update={"baseline": BaselineOutcome(file="known.toml", **entries)})
    )

    shown = overview(run, 0)

    assert [row.verdict for row in shown["blockers"]] == list(LABELS)  # type: ignore[attr-defined]
    assert [row.tone for row in shown["changes"]] == list(LABELS)  # type: ignore[attr-defined]


LABELS = ("stale", "expired")
