"""A logout that ends several sessions of an account at once is named, as it may end those of others."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.run.session import RunOptions, RunSession
from conformance.target.profile.model import parse
from conformance.tests.reached import MINIMAL, connected, moved


@pytest.mark.parametrize("variants, logged_out", [(["logout-ends-all"], {"limited": 2}), ([], {})])
def test_an_account_of_which_a_logout_ends_several_sessions_is_known(
    variants: list[str], logged_out: dict[str, int]
) -> None:
    with connected(variants=variants) as (portal, _, _):
        limited = portal.account("limited")
        limited.signed_in()
        assert portal.login.logout(limited.fresh_sign_in().token).success

        assert portal.login.logged_out == logged_out


def test_the_notes_of_a_run_name_an_account_whose_sessions_a_logout_ended(tmp_path: Path) -> None:
    session = RunSession.open(parse(MINIMAL, {}), moved(), RunOptions(out=tmp_path, impact="disruptive"))
    session.portal.login.logged_out["limited"] = 3

    (note,) = session.finish().notes

    assert note.startswith("A logout of [accounts.limited] says that it ended 3 sessions at once")
