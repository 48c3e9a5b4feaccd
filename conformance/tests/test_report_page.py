"""The templates of pages: compiled once, kept beside the compiled modules, and never needed."""

from __future__ import annotations

from pathlib import Path

import pytest
from jinja2 import DictLoader, Environment
from markupsafe import Markup, escape

from conformance.report.formats.page import CompiledTemplates, compiled_templates, shown, with_code
from conformance.report.model.visible import visible

SOURCE = "{{ word }} and {{ word }}"


def rendered(cache: CompiledTemplates | None, source: str = SOURCE) -> str:
    environment = Environment(loader=DictLoader({"page": source}), bytecode_cache=cache, autoescape=True)
    return environment.get_template("page").render(word="one")


def test_a_compiled_template_is_kept_and_gives_the_same(tmp_path: Path) -> None:
    first = rendered(compiled_templates(tmp_path))
    assert len(list(tmp_path.iterdir())) == 1
    assert rendered(compiled_templates(tmp_path)) == first == "one and one"


def test_a_changed_template_is_compiled_anew(tmp_path: Path) -> None:
    rendered(compiled_templates(tmp_path))
    assert rendered(compiled_templates(tmp_path), "only {{ word }}") == "only one"


def test_a_damaged_file_is_compiled_anew(tmp_path: Path) -> None:
    rendered(compiled_templates(tmp_path))
    for file in tmp_path.iterdir():
        file.write_bytes(file.read_bytes()[:60])
    assert rendered(compiled_templates(tmp_path)) == "one and one"


def test_a_folder_that_takes_no_file_costs_no_page(tmp_path: Path) -> None:
    assert rendered(CompiledTemplates(str(tmp_path / "none"))) == "one and one"


def test_nothing_is_kept_where_python_keeps_nothing(tmp_path: Path) -> None:
    assert compiled_templates(tmp_path / "none") is None


@pytest.mark.parametrize("value", ["plain", "", "<b>", "'", '"', "a & b", "é\u202e", 3, None, Markup("<b>")])
def test_a_value_is_shown_as_jinja_would_escape_it(value: object) -> None:
    assert shown(value) == escape(visible(value) if isinstance(value, str) and value != "<b>" else value)


def test_what_stands_between_backticks_is_code() -> None:
    assert with_code("a < `b > c` d``") == "a &lt; <code>b &gt; c</code> d"
    assert isinstance(with_code("a"), Markup)
