"""``setup``: asks what a profile needs, writes it commented and complete, and tries it out."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import rich_click as click

from conformance.cli.command import Choice, Options
from conformance.cli.layout import print_text
from conformance.errors import UsageError
from conformance.target.profile.template import AccountAnswers, InboxAnswers, ProfileAnswers, filled
from conformance.traffic.address import is_http_address

NO_TERMINAL = (
    "setup asks its questions on a terminal. Without one: `portal-conformance setup --print > portal.toml`, "
    "fill in the URL, the access code and an account, "
    "then `portal-conformance doctor --profile portal.toml --write`."
)
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
USUAL_NAME = re.compile(r"[A-Z0-9_]{1,15}|[A-Z0-9]+(_[A-Z0-9]+)+")
"""What a name looks like that is not set: short, or words in capitals. A secret is longer, or a word."""
FIRST = """\
setup asks for the portal's address, an account and its second factor, writes {path}, and tries it out.
It asks for no secret, only for the names of the environment variables that hold them.
Each name is shown after it is accepted.
{state}
"""
ALL_SET = "These variables are set: {names}. So setup can try the profile out. Others must be exported first."
SOME_UNSET = (
    "setup can try the profile out only if its variables are set. These are not set: {names}. Export them, "
    "by these names or others, before you begin or afterwards."
)
USUAL = ("PORTAL_ACCESS_CODE", "ADMIN_PASSWORD", "ADMIN_OTP_SECRET")
"""The variables that the questions propose."""

HOLDS_NONE = "It holds no secret, but the names of the environment variables that hold them."


ProblemAt = Callable[[str], str | None]
"""Says what is wrong with an address; None where a portal answers there."""


class Word(Choice):
    """A word from a fixed list, ignoring case and surrounding blanks."""

    def __init__(self, *words: str) -> None:
        super().__init__(words, case_sensitive=False)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return super().convert(value.strip() if isinstance(value, str) else value, param, ctx)


def hold(
    options: Options, *, is_terminal: bool, try_out: Callable[[Path], int], problem_at: ProblemAt
) -> int:
    """Asks, writes the profile, and tries it out where every secret is set. UsageError: there is no terminal,
    or the file exists."""
    if not is_terminal:
        raise UsageError(NO_TERMINAL)
    path: Path = options.profile
    if path.exists():
        raise UsageError(f"{path} exists, and is not overwritten. Name another file with --profile.")
    missing = [name for name in USUAL if not os.environ.get(name)]
    state = (SOME_UNSET if missing else ALL_SET).format(names=", ".join(missing or USUAL))
    print_text(FIRST.format(path=path, state=state), form="text")
    answers = _asked(problem_at)
    path.write_text(filled(answers), encoding="utf-8")
    print_text(f"\nWrote {path}.\n{HOLDS_NONE}", form="text")
    unset = [name for name in answers.variables if not os.environ.get(name)]
    if unset:
        exports = "\n".join(f"    export {name}=…" for name in unset)
        doctor = f"portal-conformance doctor --profile {path} --write"
        print_text(f"Set these, then try it out:\n{exports}\n    {doctor}", form="text")
        return 0
    return try_out(path)


def _asked(problem_at: ProblemAt) -> ProfileAnswers:
    url = _portal(problem_at)
    access = _variable("Variable with the access code", USUAL[0])
    admin = _account("Email of the account that signs in for most cases", "ADMIN")
    question = "Is there a second account, whose password and sessions may be changed?"
    spare = _account("Its email", "SPARE") if click.confirm(question, default=False) else None
    is_needed = any(each.otp_secret is None for each in (admin, spare) if each)
    inbox = _inbox(admin.email, is_needed=is_needed)
    is_challenged = click.confirm("Does the portal ask for the token of a bot challenge?", default=False)
    token = _variable("Variable with a token that it accepts", "BOT_TOKEN") if is_challenged else None
    return ProfileAnswers(url, access, admin, spare, inbox, token)


def _account(question: str, prefix: str) -> AccountAnswers:
    email = click.prompt(question, value_proc=_email)
    password = _variable("Variable with its password", f"{prefix}_PASSWORD")
    factor = click.prompt("Its second factor", type=Word("OTP", "EMAIL"), default="OTP")
    question = "Variable with its authenticator secret"
    secret = _variable(question, f"{prefix}_OTP_SECRET") if factor == "OTP" else None
    return AccountAnswers(email, password, secret)


def _portal(problem_at: ProblemAt) -> str:
    """The address of the portal, tried at once; where none answers it is asked for again, and may stay."""
    kept, typed = "", click.prompt("Address of the portal", value_proc=_host_or_address)
    while typed != kept:
        kept, problem = _found(typed, problem_at)
        if problem is None:
            print_text(f"  A portal answers at {kept}.", form="text")
            return kept
        print_text(f"  {_of_address(problem)}", form="text")
        other = _other_scheme(kept)
        if problem_at(other) is None:
            print_text(f"  A portal answers at {other}.", form="text")
            kept = other
        question = "Address of the portal, corrected (Enter takes the one shown)"
        typed = click.prompt(question, default=kept, value_proc=_host_or_address)
    return kept


def _found(typed: str, problem_at: ProblemAt) -> tuple[str, str | None]:
    """The address, and what is wrong with it. Where its scheme is missing https is tried, and then http."""
    if "://" in typed:
        return typed, problem_at(typed)
    print_text("  It begins with neither https:// nor http://. Both are tried, https:// first.", form="text")
    secure = f"https://{typed}"
    problem = problem_at(secure)
    if problem is not None and problem_at(_other_scheme(secure)) is None:
        return _other_scheme(secure), None
    return secure, problem


def _other_scheme(url: str) -> str:
    scheme, _, rest = url.partition("://")
    return f"{'http' if scheme == 'https' else 'https'}://{rest}"


def _of_address(problem: str) -> str:
    """The problem text without advice about a profile that does not exist yet."""
    sentences = re.split(r"(?<=[.?]) (?=[A-Z[])", problem)
    return " ".join(sentence for sentence in sentences if "[portal]" not in sentence) or problem


def _inbox(email: str, *, is_needed: bool) -> InboxAnswers | None:
    """How mails are read; with an authenticator they only let rules about mailed codes be tested."""
    none = () if is_needed else ("none",)
    question = f"How its mails are read{'' if is_needed else ', for rules about mailed codes'}"
    kinds = Word("imap", "http", "command", "fixed", *none)
    kind = click.prompt(question, type=kinds, default="imap" if is_needed else "none")
    if kind == "none":
        return None
    if kind == "imap":
        host = click.prompt("Mail server (IMAP over TLS)", value_proc=_text)
        user = click.prompt("User of the mailbox", default=email, value_proc=_text)
        variable = _variable("Variable with the password of the mailbox", "IMAP_PASSWORD")
        return InboxAnswers(
            kind, {"host": host, "username": user, "password": f"${{{variable}}}"}, variable=variable
        )
    if kind == "http":
        question = "URL that answers with its mails, {email} in place of the address"
        return InboxAnswers(kind, {"url": click.prompt(question, value_proc=_address)})
    if kind == "command":
        question = "Command that prints its newest mail first, {email} in place of the address"
        return InboxAnswers(kind, {"argv": click.prompt(question, value_proc=_words)})
    variable = _variable("Variable with the code, which is always the same", "MAILED_CODE")
    return InboxAnswers(kind, {"code": f"${{{variable}}}"}, variable=variable)


def _variable(question: str, usual: str) -> str:
    """Asks for the name of a variable. Input stays hidden until it is a valid name, as it may be the secret
    itself."""
    while True:
        typed = click.prompt(question, default=usual, hide_input=True)
        try:
            name = _name(str(typed), usual)
        except click.BadParameter as wrong:
            print_text(f"Error: {wrong.message}. It was not shown.", form="text")
            continue
        print_text(f"  {name}, which is {'set' if os.environ.get(name) else 'not set'}", form="text")
        return name


def _address(text: str) -> str:
    if not is_http_address(text.strip()) or set(text) & set('"\\'):
        raise click.BadParameter(
            "give an address that begins with https:// or http://, such as https://portal.example.test"
        )
    return text.strip().rstrip("/")


def _host_or_address(text: str) -> str:
    typed = text.strip().rstrip("/")
    return typed if re.fullmatch(r"(?!.*://)[^\s\"\\/@]+(/[^\s\"\\]*)?", typed) else _address(text)


def _matching(pattern: str, advice: str) -> Callable[[str], str]:
    """Reads a text of this form, without the blanks around it."""

    def read(text: str) -> str:
        if not re.fullmatch(pattern, text.strip()):
            raise click.BadParameter(advice)
        return text.strip()

    return read


_text = _matching(".+", "give a text")
_email = _matching(r"[^@\s\"\\]+@[^@\s\"\\]+", "give an email address")


def _words(text: str) -> list[str]:
    try:
        words = shlex.split(text)
    except ValueError as problem:
        raise click.BadParameter(f"this is no command ({problem})") from None
    if not words:
        raise click.BadParameter("give a command")
    return words


def _name(text: str, usual: str) -> str:
    """A name that is set, or looks like one: an access code may be a valid name as well. ``usual`` is the
    name that is proposed."""
    name = text.strip()
    if not VARIABLE.fullmatch(name):
        raise click.BadParameter(
            f"give the name of an environment variable, such as {usual}, and not the secret itself"
        )
    if name not in os.environ and not USUAL_NAME.fullmatch(name):
        raise click.BadParameter(
            f"no environment variable has this name: export it first, or give a name such as {usual}. "
            "Do not give the secret itself"
        )
    return name
