"""What is wrong with a profile, as sentences that name the table, the key, and the nearest known one."""

from __future__ import annotations

import re
import types
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from conformance.target.profile.positions import Place, PlacedError, Positions

KINDS = {
    "string_type": "a text",
    "int_type": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "dict_type": "a table",
    "list_type": "a list",
    "model_type": "a table",
    "model_attributes_type": "a table",
}
NESTED = ("accounts", "inboxes", "operations")
ACCEPTED = (
    " A difference that was accepted there is a [[known]] row of the file that --known names, with the same "
    "keys, and until in place of expires."
)
GONE = {("replay",): ACCEPTED}
"""What replaces the tables of former profiles."""
UNION_ARMS = ("bool", "str", "http", "imap", "command", "fixed")


def nearest(text: str, candidates: Iterable[str], *, cutoff: float = 0.6) -> str | None:
    """The known word that was probably meant, where one is like enough (1.0: the same)."""
    words = {word.lower(): word for word in candidates}
    close = get_close_matches(text.lower(), words, n=1, cutoff=cutoff)
    return words[close[0]] if close else None


def hint_at(text: str, candidates: Iterable[str], otherwise: str = "") -> str:
    """The question behind a mistake for the word that was probably meant, where one is like enough."""
    near = nearest(text, candidates)
    return f' Did you mean "{near}"?' if near else otherwise


def sentences(
    problem: ValidationError, model: type[BaseModel], positions: Positions, *, stand_in: str = ""
) -> Iterator[str]:
    """One sentence for each mistake, each once, behind its file and line; it begins with the table, if any.

    ``stand_in`` stands in the values for what is not known: nothing that its text decides is a mistake.
    """
    messages: dict[str, None] = {}
    for error in _causes(problem, model):
        sentence = _sentence(error, model)
        if not stand_in or not _is_about(stand_in, error, sentence):
            shown = sentence.replace(stand_in, "${…}") if stand_in else sentence
            messages.setdefault(f"{positions.of(_place(error))}: {shown}")
    yield from messages


def _place(error: dict[str, Any]) -> Place:
    """Where a mistake is: its own place, and what the validator of a whole table says."""
    cause = error.get("ctx", {}).get("error")
    return (*error["loc"], *(cause.place if isinstance(cause, PlacedError) else ()))


def _causes(problem: ValidationError, model: type[BaseModel]) -> list[dict[str, Any]]:
    """The mistakes, unknown keys first; that a key is missing is none where it is only mistyped."""
    errors: list[dict[str, Any]] = [dict(error) for error in problem.errors(include_url=False)]
    unknown = [error for error in errors if error["type"] == "extra_forbidden"]
    places = [tuple(error["loc"]) for error in unknown]
    mistyped = {(*at[:-1], nearest(str(at[-1]), _fields_at(model, at[:-1]))) for at in places}
    others = [error for error in errors if error["type"] != "extra_forbidden"]
    kept = [row for row in others if row["type"] != "missing" or tuple(row["loc"]) not in mistyped]
    return [*unknown, *kept]


def _is_about(stand_in: str, error: dict[str, Any], sentence: str) -> bool:
    """Whether the text of a stand-in decides; that it is a text, or stands under a key, is as it stays."""
    if error["type"] in KINDS or error["type"] in ("extra_forbidden", "missing"):
        return False
    return stand_in in sentence or (isinstance(error["input"], str) and stand_in in error["input"])


def _sentence(error: dict[str, Any], model: type[BaseModel]) -> str:
    kind, place = error["type"], tuple(error["loc"])
    if kind == "value_error" and not place:
        return str(error["ctx"]["error"])
    head, key = _split(place)
    if kind == "extra_forbidden":
        names = _fields_at(model, place[:-1])
        hint = GONE.get(place) or hint_at(key, names, f" Known are {', '.join(names)}." if names else "")
        return f'{head or "the profile"} has no {"key" if head else "table"} "{key}".{hint}'
    if kind == "missing":
        return (
            f"{head} has no {key}, which is needed."
            if head
            else f"there is no table [{key}], which is needed."
        )
    is_of_a_table = kind == "value_error" and not head and isinstance(error["ctx"]["error"], PlacedError)
    where = f"[{key}]" if is_of_a_table else " ".join(filter(None, (head, key)))
    return f"{where} {_complaint(error)}"


def _complaint(error: dict[str, Any]) -> str:
    kind, value = error["type"], error["input"]
    if kind == "value_error":
        return str(error["ctx"]["error"])
    if kind in KINDS:
        return f"must be {KINDS[kind]}, not {_shown(value)}."
    if kind in ("literal_error", "union_tag_invalid"):
        expected = error["ctx"].get("expected") or error["ctx"].get("expected_tags")
        wanted = str(expected).replace("'", '"')
        word = value.get("kind") if isinstance(value, dict) else value
        hint = hint_at(str(word), re.findall(r'"([^"]+)"', wanted))
        return f"must be {wanted}, not {_shown(word)}.{hint}"
    if kind == "union_tag_not_found":
        return 'has no kind, which is needed: "http", "imap", "command" or "fixed".'
    return f"is not right: {error['msg'][0].lower()}{error['msg'][1:]}."


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return (
        f'"{value}"' if isinstance(value, str) else f"{value}" if isinstance(value, int | float) else "this"
    )


def _split(place: tuple[Any, ...]) -> tuple[str, str]:
    parts = [str(part) for part in place]
    depth = 2 if parts[0] in NESTED else 1
    # Without pydantic's name for the alternative that it tried, which is no key of the profile.
    arm = 0 if parts[0] == "inboxes" else 1 if parts[:2] == ["portal", "verify"] else None
    rest = [part for number, part in enumerate(place[depth:]) if not (number == arm and part in UNION_ARMS)]
    if len(parts) == 1:
        return "", parts[0]
    return head_of(parts[:depth]), _key(rest)


def head_of(names: Iterable[str]) -> str:
    """The line of a table: ``[accounts.admin]``."""
    quoted = (name if re.fullmatch(r"[\w-]+", name) else f'"{name}"' for name in names)
    return f"[{'.'.join(quoted)}]"


def _key(parts: list[str | int]) -> str:
    """The parts of a key: ``headers.X-LOCALE``, ``argv number 1``."""
    text = ""
    for part in parts:
        if isinstance(part, int):
            text += f" number {part + 1}:"
        else:
            text += f"{' ' if text.endswith(':') else '.' if text else ''}{part}"
    return text.removesuffix(":")


def _fields_at(model: Any, place: tuple[Any, ...]) -> list[str]:
    """The keys that a table may have, followed through the models' annotations."""
    if isinstance(model, type) and issubclass(model, BaseModel):
        if not place:
            return list(model.model_fields)
        field = model.model_fields.get(str(place[0]))
        return _fields_at(field.annotation, place[1:]) if field else []
    if get_origin(model) is dict:
        return _fields_at(get_args(model)[1], place[1:])
    if get_origin(model) in (Union, types.UnionType):
        kinds = {
            arm.model_fields["kind"].annotation: arm
            for arm in get_args(model)
            if hasattr(arm, "model_fields")
        }
        arm = next((arm for kind, arm in kinds.items() if place[:1] == get_args(kind)), None)
        return _fields_at(arm, place[1:]) if arm else []
    if hasattr(model, "__metadata__"):
        return _fields_at(get_args(model)[0], place)
    return []
