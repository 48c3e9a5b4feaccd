"""``python -m reference_impl``: serves the reference portal."""

import argparse
import dataclasses
import sys
from pathlib import Path

from reference_impl import serve
from reference_impl.faults import FAULTS
from reference_impl.limits import Limits
from reference_impl.variants import VARIANTS

_LIMITS = {field.name: field.default for field in dataclasses.fields(Limits)}


def main(arguments: list[str] | None = None) -> int:
    given = _parser().parse_args(arguments)
    if given.list_faults:
        print("\n".join(f"{fault.name}  {' '.join(fault.breaks)}".rstrip() for fault in FAULTS.values()))
        return 0
    if given.list_variants:
        print("\n".join(f"{variant.name}  ({variant.gap})" for variant in VARIANTS.values()))
        return 0
    try:
        return serve.run(
            port=given.port,
            host=given.host,
            faults=given.fault,
            variants=given.variant,
            profile_out=given.profile_out,
            clock=given.clock,
            inbox=given.inbox,
            limits=dict(given.limit),
            seed=given.seed,
        )
    except OSError as error:
        print(f"The portal cannot be served at {given.host}:{given.port}: {error}.", file=sys.stderr)
        return 4


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m reference_impl", description=__doc__)
    parser.add_argument("--port", type=int, default=8000, metavar="N")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--fault", action="append", default=[], choices=FAULTS, metavar="NAME")
    parser.add_argument("--variant", action="append", default=[], choices=VARIANTS, metavar="NAME")
    parser.add_argument("--profile-out", type=Path, metavar="FILE")
    parser.add_argument("--no-clock", dest="clock", action="store_false", help="time cannot be moved")
    parser.add_argument("--no-inbox", dest="inbox", action="store_false", help="mails cannot be read")
    parser.add_argument("--limit", action="append", default=[], type=limit, metavar="NAME=VALUE")
    parser.add_argument("--seed", type=int, help="ids, passwords and codes that repeat")
    parser.add_argument("--list-faults", action="store_true")
    parser.add_argument("--list-variants", action="store_true")
    return parser


def limit(text: str) -> tuple[str, float]:
    """``login_window=5``; a whole number stays one."""
    name, _, value = text.partition("=")
    if name not in _LIMITS:
        raise argparse.ArgumentTypeError(f'there is no limit "{name}"; there are {", ".join(_LIMITS)}')
    try:
        return name, int(value) if value.lstrip("-").isdigit() else float(value)
    except ValueError:
        raise argparse.ArgumentTypeError(f'"{value}" is no number') from None


if __name__ == "__main__":
    raise SystemExit(main())
