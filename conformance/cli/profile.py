"""The profile of a command, and its hold on the accounts at the target."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from conformance.cli.command import Options
from conformance.cli.layout import print_error
from conformance.cli.options import use_default_profile
from conformance.target.locks import held, target_lock
from conformance.target.profile.model import Profile, load, of_target


def profile_of(options: Options) -> Profile | None:
    """The profile of the options, else ``portal.toml`` in this folder; None without. ProfileError."""
    use_default_profile(options)
    if options.profile:
        return load(options.profile, target=options.target)
    return of_target(options.target) if options.target else None


def refuse_wrong_target(options: Options) -> None:
    """UsageError: the profile or the address has a mistake. What can be read only once is not looked into: a
    pipe, and a profile that names files, which may be pipes."""
    path = options.profile
    is_once = path is not None and (path.is_fifo() or (path.is_file() and b"${file:" in path.read_bytes()))
    if not is_once:
        profile_of(options)


@contextmanager
def alone(profile: Profile, *, is_waiting: bool) -> Iterator[None]:
    """Holds the accounts at the target against runs and replays. The lock goes on naming the ledger of the
    last run, for which the doctor looks."""
    lock = target_lock(profile)
    note = "" if lock is None else str(lock.content().get("note", ""))
    with held([lock] if lock else [], on_wait=print_error if is_waiting else None, note=note):
        yield
