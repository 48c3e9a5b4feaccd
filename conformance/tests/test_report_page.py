"""Texts as pages show them."""

from __future__ import annotations

from markupsafe import Markup

from conformance.report.formats.page import with_code


def test_what_stands_between_backticks_is_code() -> None:
    assert with_code("a < `b > c` d``") == "a &lt; <code>b &gt; c</code> d"
    assert isinstance(with_code("a"), Markup)
