"""Whether a message is in the language that was asked for (chapter "Common request headers")."""

from __future__ import annotations

import re
from collections.abc import Iterator

from conformance.checks.registry import Memory, check, errors
from conformance.spec.tables import LANGUAGES
from conformance.traffic.exchange import Exchange
from conformance.verdicts.comparisons import contradicts, is_success
from conformance.verdicts.findings import HELD, Comparison

KANA = re.compile("[\u3041-\u30ff]")
VIETNAMESE = re.compile("[\u0103\u0111\u01a1\u01b0\u1ea0-\u1ef9]", re.IGNORECASE)
IDEOGRAPH = re.compile("[\u4e00-\u9fff]")

CHARACTER_SETS = {"zh": "gb2312", "zh-Hant": "big5", "ja": "euc_jp"}
"""Those of the languages written in ideographs, of which each lacks many that another has."""

EVERY = frozenset(LANGUAGES)
TAGS = {language.casefold(): language for language in LANGUAGES}


def languages_of(text: str) -> frozenset[str]:
    """Possible listed languages of a text, judged by letters; all languages if letters are inconclusive."""
    if KANA.search(text):
        return frozenset({"ja"})
    if VIETNAMESE.search(text):
        return frozenset({"vi"})
    if not IDEOGRAPH.search(text):
        return EVERY
    letters = "".join(IDEOGRAPH.findall(text))
    able = {language for language, codec in CHARACTER_SETS.items() if _can_write(letters, codec)}
    return frozenset(able) or EVERY


def _can_write(letters: str, codec: str) -> bool:
    try:
        letters.encode(codec)
    except UnicodeEncodeError:
        return False
    return True


def _tag(exchange: Exchange, header: str) -> str | None:
    """The listed language that a header names; None where it names none, or several."""
    return TAGS.get((exchange.request.header(header) or "").strip().casefold())


@check("HEADER-004", on=errors().at_its_moment().where(lambda exchange: exchange.status == 406))
def a_listed_language_is_acceptable(exchange: Exchange) -> Iterator[Comparison]:
    """With 406 a server has nothing in the language or the form that is asked for (RFC 9110, 15.5.7). Of
    ``X-LOCALE``, which is listed as required, no value is shown: one that is no such language may be why."""
    asked, accepted = _tag(exchange, "accept-language"), (exchange.request.header("accept") or "").strip()
    if (
        asked is not None
        and _tag(exchange, "x-locale") is not None
        and accepted in ("application/json", "*/*")
    ):
        yield is_success(exchange, message=f"the request in {asked} was refused")


@check("HEADER-021", on=errors().at_its_moment(), remembers=True)
def a_message_is_in_the_language_asked_for(exchange: Exchange, memory: Memory) -> Iterator[Comparison]:
    """Whether messages follow the language is open: held to it is one who has the same message in another
    language. What is in English may not have been translated, and for ``zh-Hant`` there may be ``zh`` alone
    (RFC 4647, 3.4)."""
    asked, text = _tag(exchange, "accept-language"), exchange.at("message")
    if asked is None or not isinstance(text, str) or exchange.code is None:
        return
    key = f"{exchange.request.parts.netloc} {exchange.code}"
    texts: dict[str, str] = memory.get(key) or {}
    memory[key] = texts = {**texts, asked: text}
    able = languages_of(text)
    if able is EVERY or _tag(exchange, "x-locale") in able:
        return
    if asked in able:
        yield HELD
    elif asked.partition("-")[0] not in able and any(other != text for other in texts.values()):
        spoken = " or ".join(sorted(able))
        yield contradicts(exchange, "message", f"a message in {asked}, or in English", f"one in {spoken}")
