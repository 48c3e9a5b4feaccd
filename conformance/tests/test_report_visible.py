"""What does not show, or moves what shows, is written out."""

from __future__ import annotations

import json
import unicodedata
from xml.etree import ElementTree

import pytest

from conformance.report.model.visible import each_text, encodable, json_text, one_line, visible
from conformance.traffic.exchange import Json


@pytest.mark.parametrize(
    "text, shown",
    [
        ("a\x00b", "a␀b"),
        ("\x1b[31mred", "␛[31mred"),
        ("\x7f", "␡"),
        ("\x85", "‹U+0085›"),
        ("user\u202egnp.exe", "user‹U+202E›gnp.exe"),
        ("\u2066isolate\u2069", "‹U+2066›isolate‹U+2069›"),
        ("zero\u200bwidth", "zero‹U+200B›width"),
        ("\ufeffmark", "‹U+FEFF›mark"),
        ("half \ud800", "half ‹U+D800›"),
        ("tag\U000e0041", "tag‹U+E0041›"),
        ("plain ümläut 漢字 🙂\ttab\nline", "plain ümläut 漢字 🙂\ttab\nline"),
    ],
)
def test_unseen_characters_are_written_out(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_of_no_text_is_a_control_or_direction_character_left_and_it_is_legal_in_xml_and_utf_8() -> None:
    text = visible("".join(map(chr, range(0x30000))))

    assert {unicodedata.category(char) for char in text if char not in "\t\n"}.isdisjoint({"Cc", "Cs"})
    turning = {"RLO", "LRO", "RLE", "LRE", "PDF", "RLI", "LRI", "FSI", "PDI"}
    assert turning.isdisjoint(map(unicodedata.bidirectional, text))
    element = ElementTree.Element("a")
    element.text = text
    assert ElementTree.fromstring(ElementTree.tostring(element, "utf-8")).text == text


def test_at_most_four_marks_are_piled_on_a_letter() -> None:
    assert visible("a" + "\u0301" * 900) == "a" + "\u0301" * 4 + "‹…›"


def test_one_line_is_one_line_of_the_length_asked_for() -> None:
    shown = one_line("x\ny" * 1_000_000, 50)

    assert "\n" not in shown
    assert len(shown) < 80
    assert "(3,000,000 characters)" in shown


@pytest.mark.parametrize(
    "value",
    [{"name": "\ud800 half", "n": 1}, {"n": 2**70}, {"text": "\u2028 \x7f", "more": [1.5, None, []]}, {}],
)
def test_json_is_written_whatever_it_holds(value: Json) -> None:
    text = json_text(value)

    text.encode()
    assert json.loads(text) == each_text(value, encodable)
    assert text.endswith("}\n")
