"""The index of secret forms finds what a search form by form finds."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from conformance.traffic.redaction.forms import INDEXED, FormIndex

LETTERS = st.text(alphabet="abé€\ud800", min_size=INDEXED, max_size=14)
"""Few letters, so that forms begin, end and overlap alike; not all of them fit into one octet."""


@given(
    forms=st.lists(LETTERS, min_size=1, max_size=40, unique=True),
    dropped=st.integers(0, 10),
    around=st.lists(st.text(alphabet="abé€", max_size=9), min_size=40, max_size=40),
)
@example(forms=["aaaaaa", "aaaaaaa"], dropped=0, around=[""] * 40)
@example(forms=["aaaaaa"], dropped=0, around=["a" * 300, "b" * 3000] * 20)
def test_every_form_is_found_where_it_stands(forms: list[str], dropped: int, around: list[str]) -> None:
    index = FormIndex()
    for number, form in enumerate(forms):
        index.add(form, f"[code-{number}]")
    for number, form in enumerate(forms[:dropped]):
        index.drop(form, f"[code-{number}]")
    text = "".join(before + form for before, form in zip(around, forms, strict=False)) + around[-1]
    actual = set(index.spans(text))
    expected = {
        (start, start + len(form), f"[code-{number}]")
        for number, form in enumerate(forms)
        if number >= dropped
        for start in range(len(text))
        if text.startswith(form, start)
    }
    assert actual == expected
    assert index.size > 0 or dropped >= len(forms)
