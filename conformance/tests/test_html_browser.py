"""The pages in a real browser, opened from a file with the network off: filters, links, keys, print, axe."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from conformance.spec import REQUIREMENTS
from conformance.tests.browser import chromium, lacks
from conformance.tests.page_files import PageFiles

AXE = Path(__file__).parents[2] / ".ci" / "node_modules" / "axe-core" / "axe.min.js"


@dataclass
class Opened:
    """A page, with what it asked the network for and what it wrote to the console."""

    page: Page
    requests: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def at(self, width: int) -> Opened:
        """The same page in a window of another width, once its script has seen to that."""
        self.page.set_viewport_size({"width": width, "height": 900})
        self.page.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done)))")
        return self

    def shown(self, selector: str) -> int:
        return self.page.locator(f"{selector}:visible").count()

    def value(self, script: str) -> Any:
        return self.page.evaluate(script)


Open = Callable[..., Opened]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> PageFiles:
    return PageFiles(tmp_path_factory.mktemp("pages"))


@pytest.fixture
def open_page(browser: Browser, files: PageFiles) -> Iterator[Open]:
    contexts = []

    def opened(name: str, *, at: str = "", width: int = 1400, scheme: str = "light") -> Opened:
        context = browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme="dark" if scheme == "dark" else "light",
            offline=True,
        )
        contexts.append(context)
        one = Opened(context.new_page())
        one.page.on("request", lambda request: one.requests.append(request.url))
        one.page.on("console", lambda message: one.errors.append(message.text))
        one.page.on("pageerror", lambda error: one.errors.append(str(error)))
        one.page.goto(files[name].as_uri() + at)
        one.page.wait_for_selector("html[data-ready]", state="attached")
        return one

    yield opened
    for context in contexts:
        context.close()


PAGES = (
    *("report", "baseline", "load", "hostile", "compare", "matrix", "history"),
    *("run-of-many", "check-of-none", "replay-of-many"),
)
"""Pages that show different parts, of nothing and of hundreds of findings."""

DARK_FIRST = PAGES[::2]

FEWER_RULES = "[...document.querySelectorAll('.req')].slice(60).forEach(one => one.remove())"
"""The rules look alike: all of them stand on the page named ``report`` alone, and take most of the time."""


def open_with_few_rules(open_page: Open, name: str, *, width: int = 1400) -> Opened:
    one = open_page(name, width=width)
    if name != "report":
        one.value(FEWER_RULES)
    return one


WIDTHS = (1400, 390)
OPEN_ALL = """
  document.querySelectorAll('details').forEach(one => { one.open = true; });
  const skipped = document.querySelectorAll('.finding, .long-list');
  skipped.forEach(one => { one.style.contentVisibility = 'visible'; });
"""
"""Opens what is folded, and has the browser lay out what is not on the screen."""

BROKEN_WORDS = """() => {
  const broken = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text; text = texts.nextNode()) {
    const box = text.parentElement;
    if (box.closest("pre, script, svg, select, .body dl") || !box.checkVisibility()) continue;
    for (const word of text.textContent.matchAll(/[A-Za-z0-9]+/g)) {
      const range = document.createRange();
      range.selectNodeContents(box);
      range.setEnd(text, word.index);
      const before = range.toString();
      const after = box.textContent.slice(before.length);
      const around = before.match(/[^\\s/.,;:-]*$/)[0] + after.match(/^[^\\s/.,;:-]*/)[0];
      if (around.length > 24) continue;  // longer than any word: an id, a key
      range.setStart(text, word.index);
      range.setEnd(text, word.index + word[0].length);
      const lines = new Set([...range.getClientRects()].map((box) => Math.round(box.top)));
      if (lines.size > 1) broken.push(word[0]);
    }
  }
  return broken;
}"""


TOO_WIDE = """[...document.querySelectorAll('.table, figure')]
  .filter(box => box.checkVisibility() && box.scrollWidth > box.clientWidth).length"""


@pytest.mark.parametrize("name", PAGES)
def test_a_page_asks_for_nothing_and_fits_a_screen_and_a_phone(open_page: Open, name: str) -> None:
    one = open_with_few_rules(open_page, name)
    assert one.requests == [one.page.url]
    assert one.errors == []

    one.value(OPEN_ALL)
    for width in WIDTHS:
        assert one.at(width).value("document.documentElement.scrollWidth") <= width
        assert one.value(TOO_WIDE) == 0
        assert one.value(BROKEN_WORDS) == []
    assert one.value("[...document.querySelectorAll('td')].every(cell => cell.dataset.head !== undefined)")


def test_no_script_of_a_hostile_target_runs(open_page: Open) -> None:
    one = open_page("hostile")
    one.value(OPEN_ALL)
    one.page.mouse.move(400, 500)
    for _ in range(12):
        one.page.keyboard.press("Tab")

    assert one.value("window.struck") is None
    assert one.requests == [one.page.url]
    assert one.errors == []
    assert one.value("document.scripts.length") == 1
    assert one.value("document.querySelectorAll('iframe, img, link, base, form, object').length") == 0


def test_the_policy_of_a_page_stops_a_script_and_style_that_got_in(open_page: Open, files: PageFiles) -> None:
    smuggled = (
        "<main><script>window.struck = 1</script><img src=x onerror='window.struck = 2'>"
        "<style>h1 { color: rgb(1, 2, 3) }</style><p style='color: rgb(1, 2, 3)'>x</p>"
    )
    files["smuggled"] = files["report"].with_name("smuggled.html")
    whole = files["report"].read_text(encoding="utf-8")
    files["smuggled"].write_text(whole.replace("<main>", smuggled, 1), encoding="utf-8")

    one = open_page("smuggled")

    assert one.value("window.struck") is None
    assert one.value("getComputedStyle(document.querySelector('h1')).color") != "rgb(1, 2, 3)"
    assert sum("Content Security Policy" in error for error in one.errors) >= 4


def test_the_search_finds_ids_statements_and_values(open_page: Open) -> None:
    one = open_page("report")
    search = one.page.get_by_label("Search findings and requirements")

    search.fill("PAGE-026")
    expect(one.page.locator("#shown")).to_have_text(f"1 of {len(REQUIREMENTS)}")
    assert one.shown(".finding") == 1

    search.fill("bad credentials")
    expect(one.page.locator("#shown")).to_have_text(f"0 of {len(REQUIREMENTS)}")
    assert one.page.locator(".finding:visible").get_attribute("id") == "finding-ENV-008"

    search.fill("no such thing anywhere")
    expect(one.page.locator("#no-findings")).to_be_visible()


@pytest.mark.parametrize("place", ["ENV-019", "finding-SECURE-007", "untested", "section-Errors"])
def test_a_deep_link_opens_and_shows_its_place_also_past_a_filter(open_page: Open, place: str) -> None:
    one = open_page("report", at="#?verdict=pass&q=no-such-thing")
    assert one.page.get_by_role("button", name="pass").get_attribute("aria-pressed") == "true"
    assert one.shown(".req") == 0

    one.value(f"location.hash = '#{place}'")
    one.page.wait_for_selector(f"[id='{place}']", state="visible")

    box = one.page.locator(f"[id='{place}']").bounding_box()
    assert box is not None
    assert 0 <= box["y"] < 300


def test_the_keyboard_alone_is_enough(open_page: Open) -> None:
    one = open_page("report")
    keyboard = one.page.keyboard

    keyboard.press("j")
    assert one.value("document.activeElement.id") == "finding-SECURE-007"
    keyboard.press("j")
    assert one.value("document.activeElement.id") == "finding-ENV-008"
    keyboard.press("j")
    assert one.value("document.activeElement.id") == "finding-ENV-011"
    keyboard.press("k")
    keyboard.press("o")
    assert one.shown("#finding-ENV-008 .exchange") == 1
    keyboard.press("1")
    assert one.shown(".req") == one.shown(".finding") == 5
    assert one.page.locator("#shown").inner_text() == f"5 of {len(REQUIREMENTS)}"
    assert one.page.url.endswith("#?verdict=fail")
    keyboard.press("/")
    keyboard.type("SECURE")
    expect(one.page.locator("#shown")).to_have_text(f"1 of {len(REQUIREMENTS)}")
    keyboard.press("Escape")
    assert one.shown(".req") == 5
    keyboard.press("Escape")
    keyboard.press("c")
    assert one.page.locator("#shown").inner_text() == ""
    keyboard.press("?")
    assert one.page.get_by_role("dialog").is_visible()
    keyboard.press("Escape")
    assert not one.page.get_by_role("dialog").is_visible()


def test_on_paper_findings_show_what_they_rest_on_and_no_controls(open_page: Open, tmp_path: Path) -> None:
    one = open_page("report")

    one.page.emulate_media(media="print")
    one.value("dispatchEvent(new Event('beforeprint'))")

    assert one.shown(".bar") == one.shown(".contents") == one.shown(".button") == 0
    assert one.shown(".finding .exchange") >= 6
    assert len(one.page.pdf()) > 50_000

    one.value("dispatchEvent(new Event('afterprint'))")
    assert one.shown(".finding .exchange") == 0


@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_no_serious_violation(open_page: Open, name: str) -> None:
    if not AXE.exists():
        lacks(f"{AXE} is missing: .ci/axe fetches it")
    one = open_with_few_rules(open_page, name)
    # A dozen of what looks alike is enough, and takes a tenth of the time.
    one.value("[...document.querySelectorAll('.finding')].slice(12).forEach(one => one.remove())")
    one.value("document.querySelectorAll('tbody tr:nth-child(n + 13)').forEach(one => one.remove())")
    one.value("[...document.querySelectorAll('details')].slice(0, 25).forEach(one => { one.open = true; })")
    one.value(AXE.read_text(encoding="utf-8"))

    # Half of the pages are dark at the one width, half at the other.
    for width, is_dark in zip(WIDTHS, (name in DARK_FIRST, name not in DARK_FIRST), strict=True):
        one.page.emulate_media(color_scheme="dark" if is_dark else "light")
        violations = one.at(width).value(
            "async () => (await axe.run(document, {resultTypes: ['violations']})).violations.map("
            "one => ({id: one.id, impact: one.impact, where: one.nodes.slice(0, 3).map(node => node.html)}))"
        )
        assert [violation for violation in violations if violation["impact"] in ("serious", "critical")] == []
