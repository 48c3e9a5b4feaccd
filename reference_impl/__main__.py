"""``python -m reference_impl``: serves the reference portal."""

import argparse
import dataclasses
import difflib
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NoReturn

from reference_impl import serve
from reference_impl.faults import FAULTS
from reference_impl.faults.fault import Fault
from reference_impl.limits import Limits
from reference_impl.variants import VARIANTS

FEW = 6
"""So many endpoints of a fault are named; more are counted."""

_LIMITS = {field.name: field.default for field in dataclasses.fields(Limits)}


def main(arguments: list[str] | None = None, prog: str = "python -m reference_impl") -> int:
    options = _parser(prog).parse_args(arguments)
    if options.list_faults or options.list_variants:
        variants = (f"{variant.name}  ({variant.gap})" for variant in VARIANTS.values())
        for line in map(_described, FAULTS.values()) if options.list_faults else variants:
            serve.say(line, sys.stdout, indent="    ")
        return 0
    try:
        with serve.start(
            port=options.port,
            host=options.host,
            clock=options.clock,
            inbox=options.inbox,
            limits=Limits(**dict(options.limit)),
            faults=options.fault,
            variants=options.variant,
            seed=options.seed,
        ) as running:
            serve.until_interrupted(running, options.profile_out)
    except OSError as error:
        serve.say(f"{prog}: {_refused(error, f'{options.host}:{options.port}')}", sys.stderr)
        return 4
    return 0


def _refused(error: OSError, address: str) -> str:
    """What the system refuses: a file, or the address."""
    reason = (error.strerror or str(error)).lower()
    if error.filename is not None:
        return f"{error.filename} cannot be written: {reason}."
    return f"the portal cannot be served at {address}: {reason}. Choose another --port or --host."


def _described(fault: Fault) -> str:
    """A fault with the requirements that it breaks, and the endpoints whose answers it changes."""
    endpoints = fault.operations if len(fault.operations) <= FEW else (f"{len(fault.operations)} endpoints",)
    return f"{fault.name}  {' '.join(fault.breaks)}  ({', '.join(endpoints) or 'every endpoint'})"


class Parser(argparse.ArgumentParser):
    """Wrong options end with exit code 4, as everywhere in the suite."""

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        super().exit(4 if status == 2 else status, message)

    def error(self, message: str) -> NoReturn:
        problem = message.removeprefix("argument ").removesuffix(".")
        serve.say(f"{self.prog}: {problem}. `{self.prog} --help` shows what there is.", sys.stderr)
        self.exit(2)


def _parser(prog: str) -> argparse.ArgumentParser:
    parser = Parser(prog=prog, description="Serves the reference portal, for tests and for trying things on.")
    add = parser.add_argument
    add("--port", type=port, default=8000, metavar="N", help="0 takes a free one (default: 8000)")
    add("--host", default="127.0.0.1", help="the address to listen at (default: 127.0.0.1)")
    add("--fault", action="append", default=[], type=fault, metavar="NAME", help="contradict it so")
    add("--variant", action="append", default=[], type=variant, metavar="NAME", help="differ lawfully so")
    add("--profile-out", type=Path, metavar="FILE", help="write the profile that fits this portal")
    add("--no-clock", dest="clock", action="store_false", help="time cannot be moved")
    add("--no-inbox", dest="inbox", action="store_false", help="mails cannot be read")
    add(
        "--limit",
        action="append",
        default=[],
        type=limit,
        metavar="NAME=VALUE",
        help=f"another number, such as login_window=5; of {', '.join(_LIMITS)}",
    )
    add("--seed", type=int, help="ids, passwords and codes that repeat")
    add(
        "--list-faults",
        action="store_true",
        help="the faults, with the requirements that each breaks and the endpoints",
    )
    add("--list-variants", action="store_true", help="the variants, and the gap that permits each")
    return parser


def port(text: str) -> int:
    number = int(text) if text.isdecimal() else -1
    if not 0 <= number <= 65535:
        raise argparse.ArgumentTypeError(f'"{text}" is no port: a number from 0 to 65535')
    return number


def fault(text: str) -> str:
    return _named(text, "fault", FAULTS)


def variant(text: str) -> str:
    return _named(text, "variant", VARIANTS)


def _named(text: str, kind: str, names: Iterable[str]) -> str:
    if text in names:
        return text
    near = difflib.get_close_matches(text, names, n=3, cutoff=0.4)
    nearest = f"; the nearest are {', '.join(near)}" if near else ""
    raise argparse.ArgumentTypeError(
        f'there is no {kind} "{text}"{nearest}. `--list-{kind}s` names them all.'
    )


def limit(text: str) -> tuple[str, float]:
    """``login_window=5``; a whole number stays one."""
    name, equals, value = text.partition("=")
    if name not in _LIMITS:
        raise argparse.ArgumentTypeError(f'there is no limit "{name}"; there are {", ".join(_LIMITS)}')
    if not equals:
        raise argparse.ArgumentTypeError(f"{name} has no value: write {name}={_LIMITS[name]}")
    try:
        return name, int(value) if value.lstrip("-").isdigit() else float(value)
    except ValueError:
        raise argparse.ArgumentTypeError(f'"{value}" is no number') from None


if __name__ == "__main__":
    raise SystemExit(main())
