import pytest

from reference_impl import errors
from reference_impl.choices import Choices
from reference_impl.messages import LANGUAGES, TEXTS, message, preferred


def test_every_code_has_its_words_in_every_language() -> None:
    codes = {error.code for error in errors.table(Choices()).values()}

    assert not {(code, language) for code in codes for language in LANGUAGES} - TEXTS.keys()


def test_a_code_without_words_is_its_own_message() -> None:
    assert message("X.UNHEARD_OF", "ja") == "X.UNHEARD_OF"


@pytest.mark.parametrize(
    ("header", "language"),
    [
        (None, "en"),
        ("", "en"),
        ("ja", "ja"),
        ("JA", "ja"),
        ("fr", "en"),
        ("fr, vi", "vi"),
        ("zh-TW", "zh-Hant"),
        ("zh-hant", "zh-Hant"),
        ("zh-SG", "zh"),
        ("en;q=0.2, zh-Hant;q=0.9, ja;q=0.5", "zh-Hant"),
        ("ja;q=x", "ja"),
        (";;,,", "en"),
    ],
)
def test_the_language_ranked_first_is_spoken(header: str | None, language: str) -> None:
    assert preferred(header) == language
