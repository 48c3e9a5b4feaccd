"""Which values look like secrets: by the words in their names, and by their randomness."""

from __future__ import annotations

import math
import re
from collections import Counter
from functools import lru_cache
from inspect import isclass
from itertools import pairwise
from urllib.parse import unquote

from pydantic import BaseModel

from conformance.spec import requests, resources
from conformance.spec.tables import CODED_FIELDS, CONSTANTS, MFA_METHODS, STATES
from conformance.traffic.redaction.names import kind_of_name
from conformance.traffic.redaction.places import MASKED
from conformance.traffic.redaction.words import is_common
from conformance.traffic.values import is_redacted

_ENUMERATION = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*\Z")
_DIGITS = re.compile(r"\d{4,10}\Z")
_ONE_TIME = re.compile(r"\d{6,8}\Z")
_DIGIT_GROUPS = re.compile(r"\d{3,6}(?:[- ]\d{3,6}){1,3}\Z")
_CODE = re.compile(r"(?=.*\d)(?=.*[A-Za-z])[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*\Z")
_OPAQUE = re.compile(r"[A-Za-z0-9+/=_.~:-]{16,}\Z")
_RUN = re.compile(r"[A-Za-z0-9]{12,}")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\Z")
_ULID = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}\Z")
_TIME = re.compile(r"\d{4}-?\d\d-?\d\d[Tt ]\d\d:?\d\d")
_PREFIXED = re.compile(
    r"(?:gh[pousr]|github_pat|glpat|npm|xox[abeprs]|sk|pk|rk|shpat|dop_v1|ya29|hvs)[-_.][A-Za-z0-9_-]{16,}\Z"
    r"|SG\.[\w-]{16,}\.[\w-]{16,}\Z|(?:AKIA|ASIA)[A-Z0-9]{16}\Z|AIza[\w-]{30,}\Z"
)
"""Keys and tokens that say by their beginning what they are."""

_PAIRS = re.compile(r"(?:[0-9A-Fa-f]{2}[:-]){11,}[0-9A-Fa-f]{2}\Z")
_WORDS_OF_A_SEED = re.compile(r"[a-z]{3,8}(?: [a-z]{3,8}){11,23}\Z")
_PASSWORD = re.compile(r"(?=.*[A-Za-z])(?=.*\d)(?=.*[!#$%^&*?~|§])[^\s\"'<>=,;/:@]+\Z")
_AROUND_AN_ID = re.compile(r"(?:urn:uuid:|\{)?(.*?)\}?\Z")

_PARTED = re.compile(r"[A-Za-z]{4,8}(?:-[A-Za-z]{4,8}){1,3}\Z")

LEAST_ENTROPY = 3.0
"""Bits a character of what is taken for random."""

LONG, MIXING = 20, 0.35
"""A text of so many letters that turns so often from one kind of letter to another is random."""

CODES = frozenset(
    str(item)
    for family in (*CONSTANTS.values(), *STATES.values(), *CODED_FIELDS.values(), MFA_METHODS)
    for pair in family.items()
    for item in pair
)
"""Codes and values of the specification's enumerations: the same on every portal."""


def _field_names() -> frozenset[str]:
    names = {name for filters in requests.FILTERS.values() for name in filters}
    names |= {
        "alpha2Code",
        "alpha3Code",
        "numericCode",
        "phoneCode",
        "zoneIdCode",
        "isoCode",
        "code",
        "keyId",
    }
    for module in (resources, requests):
        for model in vars(module).values():
            if not isclass(model) or not issubclass(model, BaseModel):
                continue
            for name, field in model.model_fields.items():
                names.add(name)
                choices = getattr(field.validation_alias, "choices", ())
                names.update(choice for choice in choices if isinstance(choice, str))
    return frozenset(names)


DESCRIBED = _field_names()


def is_secret_under(name: str, value: str) -> str | None:
    """The kind of secret that a value is for its name; None where it is none."""
    named = kind_of_name(name)
    if named is None or is_ordinary(value):
        return None
    kind, is_strong = named
    if is_strong:
        return kind if " " not in value or kind == "password" or _is_secret_of_words(value) else None
    if looks_like_code(value) or is_random(value) or _is_mixed(value):
        return kind
    return kind if looks_like_password(value) or _is_secret_of_words(value) else None


def is_ordinary(value: str) -> bool:
    """Whether a value stands anywhere: a word of the specification, a time, a mask, a placeholder."""
    return (
        is_common(value)
        or value in CODES
        or is_redacted(value)
        or MASKED.match(value) is not None
        or _TIME.match(value) is not None
        or value.lower() in ("true", "false", "bearer", "jwt")
    )


def looks_like_code(value: str) -> bool:
    """Whether a value is digits, or letters with digits, as a code is, and no name of a state."""
    if _DIGITS.match(value) or _DIGIT_GROUPS.match(value):
        return True
    if _ENUMERATION.match(value) and not any(letter.isdigit() for letter in value):
        return False
    if _PARTED.match(value):
        return len(set(map(len, value.split("-")))) == 1 and not _reads(value)
    return 5 <= len(value) <= 40 and "_" not in value and _CODE.match(value) is not None


def looks_like_password(value: str) -> bool:
    """Whether a value has letters, digits and signs without blanks, as no name and no number has."""
    return 8 <= len(value) <= 64 and _PASSWORD.match(value) is not None


def are_words_of_a_seed(value: str) -> bool:
    """Whether a value is a dozen small words without a stop, as a wallet's seed is."""
    return _WORDS_OF_A_SEED.match(value) is not None


def _is_secret_of_words(value: str) -> bool:
    """Whether a value with blanks is a secret: groups of digits, the words of a seed, or a key in it."""
    if _DIGIT_GROUPS.match(value) or are_words_of_a_seed(value):
        return True
    return "\n" not in value and any(is_random(word) for word in value.split())


def is_one_time_code(value: str) -> bool:
    return _ONE_TIME.match(value) is not None


def is_id(value: str) -> bool:
    bare = value if value[:1] not in ("{", "u") else _AROUND_AN_ID.sub(r"\1", value)
    return _UUID.match(bare) is not None or _ULID.match(bare) is not None


def _is_mixed(value: str) -> bool:
    """Whether an opaque text has capitals, small letters and digits, however short its runs of them are."""
    kinds = (str.isupper, str.islower, str.isdigit)
    return _OPAQUE.match(value) is not None and all(any(map(kind, value)) for kind in kinds)


@lru_cache(maxsize=65536)
def is_random(value: str) -> bool:
    """Whether a text is plainly made by a machine, and no id of a record: high entropy, no words."""
    if _PREFIXED.match(value) or _PAIRS.match(value):
        return True
    if "%" in value and "/" not in value:
        value = unquote(value)
    if is_id(value) or not _OPAQUE.match(value) or "://" in value:
        return False
    if len(value) >= LONG and _is_mixed(value) and _turns(value) >= len(value) * MIXING:
        return True
    run = max(_RUN.findall(value), key=len, default="")
    if not run:
        return False
    is_mixed = any(letter.isdigit() for letter in run) and any(letter.isalpha() for letter in run)
    turns = sum(first.islower() and second.isupper() for first, second in pairwise(run))
    if not is_mixed and turns < 3 and not (run.isupper() and len(run) >= 16):
        return False
    return entropy(value) >= LEAST_ENTROPY


def _turns(value: str) -> int:
    """How often a text turns from one kind of letter to another: capitals, small letters, digits."""
    kinds = [(letter.isupper(), letter.islower(), letter.isdigit()) for letter in value if letter.isalnum()]
    return sum(first != second for first, second in pairwise(kinds))


def entropy(text: str) -> float:
    """Shannon's entropy of the letters of a text, in bits a letter."""
    counts = Counter(text)
    return -sum(count / len(text) * math.log2(count / len(text)) for count in counts.values())


def _reads(text: str) -> bool:
    """Whether a text may be words: vowels between consonants in each part."""
    parts = text.lower().split("-")
    return all(re.search(r"[aeiou]", part) and not re.search(r"[^aeiouy]{4}", part) for part in parts)
