"""Commands about the suite itself: selftest, docs, completion, mcp."""

from __future__ import annotations

import re
import signal
import sys
from collections.abc import Callable, Collection, Mapping
from contextlib import redirect_stdout
from difflib import get_close_matches
from importlib.resources import files
from pathlib import Path
from threading import Thread
from typing import TextIO

from conformance.cli import options as opt
from conformance.cli.command import TEXT, Choice, Options, argument, command, flag, option, repeated
from conformance.cli.layout import is_screen, print_error, print_line
from conformance.cli.output import give_up
from conformance.cli.program import completion_script
from conformance.errors import UsageError


@command(
    "selftest",
    opt.OUT,
    repeated("--only", metavar="NAME", allow_from_autoenv=False, help="run only this fault or variant"),
    option("--jobs", metavar="N", type=int, help="number of parallel workers (default: cores + 1)"),
    flag("--thorough", help="run every case for every variant"),
)
def test_the_suite(options: Options) -> int:
    """Proves the suite against faults and variants; exit code 1 where something is not proven."""
    from conformance.selftest import run  # the reference portal: only this command needs it

    return run(
        out=options.out,
        only=list(options.only),
        jobs=options.jobs,
        thorough=options.thorough,
        tell=print_line,
    )


@command(
    "completion",
    argument("shell", "SHELL", type=Choice(("bash", "zsh", "fish")), help="bash, zsh or fish"),
    examples=(
        "portal-conformance completion zsh > ~/.zfunc/_portal-conformance",
        "portal-conformance completion fish > ~/.config/fish/completions/portal-conformance.fish",
    ),
)
def print_completion(options: Options) -> int:
    """Prints the completion script of a shell."""
    print(completion_script(options.shell))
    return 0


LINK = re.compile(r"\[(?P<text>[^\]]+)\]\((?:[\w./-]*/)?(?P<page>[\w-]+)\.md(?:#[\w-]+)?\)")

TITLE = re.compile(r"^# (.+)$", re.MULTILINE)

WIDEST = 110
"""Columns that a page takes at most: longer lines of text are hard to read."""


@command(
    "docs",
    argument("page", "PAGE", required=False, type=TEXT, help="the page to print; without it, all are listed"),
)
def print_page(options: Options) -> int:
    """Prints a page of the documentation, or lists the pages."""
    pages = pages_by_name()
    if options.page is None:
        for name, path in pages.items():
            print_line(f"{name:16}  {_title(path)}")
        return 0
    if options.page not in pages:
        near = get_close_matches(options.page, pages, n=1)
        hint = f"The nearest is {near[0]}." if near else "`portal-conformance docs` lists them."
        raise UsageError(f"docs {options.page}: there is no such page. {hint}")
    text = pages[options.page].read_text(encoding="utf-8")
    if is_screen(sys.stdout):
        _show(with_commands(text, pages))
    else:
        print(text, end="")
    return 0


FOR_DEVELOPERS = ("architecture", "contributing", "http-library")
"""Pages for those who change the suite, which need a checkout."""


def pages_by_name() -> Mapping[str, Path]:
    """The files of the pages for users by their names, in alphabetical order: beside the package in a
    checkout, within it where it was installed."""
    package = Path(str(files("conformance")))
    folder = next(place for place in (package / "docs", package.parent / "docs") if place.is_dir())
    pages = {path.stem: path for path in sorted(folder.rglob("*.md"), key=lambda path: path.stem)}
    return {name: path for name, path in pages.items() if name not in FOR_DEVELOPERS}


def _title(page: Path) -> str:
    title = TITLE.search(page.read_text(encoding="utf-8"))
    return title[1] if title else ""


def with_commands(text: str, pages: Collection[str]) -> str:
    """A page whose links to other pages are the commands that print these; other links are left."""

    def named(link: re.Match[str]) -> str:
        is_page = link["page"] in pages
        return f"{link['text']} (`portal-conformance docs {link['page']}`)" if is_page else link[0]

    return LINK.sub(named, text)


def _show(text: str) -> None:
    from rich.console import Console  # a list of pages needs no rich
    from rich.markdown import Markdown
    from rich.theme import Theme

    console = Console(file=sys.stdout, no_color=True, theme=Theme(STYLES))
    page = Markdown(text, code_theme="ansi_light", hyperlinks=False)
    console.print(page, width=min(console.width, WIDEST))


STYLES = {"markdown.em": "none", "markdown.item.number": "none", "markdown.block_quote": "none"}
"""Where rich's own style is none that the output lets through."""


FOR_ASSISTANTS = (
    "mcp speaks the Model Context Protocol on stdin and stdout: an assistant starts it, with this line in "
    "its settings. Ctrl-C ends it."
)


def _check_target(options: Options) -> None:
    """Raises UsageError where each run of the assistant would fail, whatever the environment holds then."""
    from conformance.target.profile.model import of_target
    from conformance.target.profile.validation import validate

    problems = validate(options.profile).problems if options.profile is not None else ()
    if problems:
        raise UsageError("\n".join(problems))
    if options.target is not None:
        of_target(options.target)


@command("mcp", opt.TARGET, opt.PROFILE, opt.IMPACT, opt.OUT)
def serve_assistant(options: Options) -> int:
    """Serves an assistant by MCP on stdin and stdout; no tool goes beyond --impact (default: read-only)."""
    from conformance.embed.mcp_server import Assistant, server_of  # needs the extra

    opt.use_default_profile(options)
    _check_target(options)
    assistant = Assistant(options.out, options.impact or "read-only", options.profile, options.target)
    if sys.stdin is not None and sys.stdin.isatty():
        print_error(FOR_ASSISTANTS)
    call_on_interrupt(assistant.leave)
    # The protocol needs the bytes of stdout; what it carries is redacted already, as the reports are.
    with redirect_stdout(sys.__stdout__):
        while_read(sys.stdout, lambda: server_of(assistant).run("stdio"))
    return 0


def while_read(stream: TextIO, serve: Callable[[], None]) -> None:
    """Serves until the assistant leaves, by closing its end of stdin or that of the stream."""
    try:
        serve()
    except* BrokenPipeError:
        give_up(stream)


def call_on_interrupt(leave: Callable[[], object]) -> None:
    """Has Ctrl-C call a function, in a thread of its own."""
    signal.signal(signal.SIGINT, lambda number, frame: Thread(target=leave, daemon=True).start())
