"""``doctor --offline`` finds what a profile has wrong without its secrets, its files and its target."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.cli import main
from conformance.errors import ProfileError
from conformance.target.profile import template
from conformance.target.profile.model import load
from conformance.target.profile.validation import validate
from reference_impl import serve as reference

PORTAL = '[portal]\nurl = "http://127.0.0.1:9"\naccess_code = "${CODE}"\n'
ADMIN = '[accounts.admin]\nemail = "a@example.test"\npassword = "${PASSWORD}"\n'
BOX = '[inboxes.mail]\nkind = "http"\nurl = "http://127.0.0.1:9/{email}"\n'


def written(folder: Path, text: str) -> Path:
    path = folder / "portal.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_profile_that_init_prints_is_valid_and_its_variables_are_named(tmp_path: Path) -> None:
    validation = validate(written(tmp_path, template.text()))

    assert validation.problems == ()
    assert validation.references == ("PORTAL_ACCESS_CODE", "ADMIN_PASSWORD", "ADMIN_OTP_SECRET")


def test_the_profile_of_the_reference_portal_is_valid(tmp_path: Path) -> None:
    with reference.start(seed=1) as portal:
        text = portal.profile()

    assert validate(written(tmp_path, text)).problems == ()


@pytest.mark.parametrize(
    "text",
    [
        PORTAL.replace('"http://127.0.0.1:9"', '"${URL}"') + ADMIN,
        PORTAL.replace('"http://127.0.0.1:9"', '"https://${HOST}/portal"') + ADMIN,
        PORTAL + 'proxy = "${PROXY}"\n' + ADMIN,
        PORTAL + ADMIN + 'otp_secret = "${file:otp.txt}"\nmfa = "${FACTOR}"\n',
        PORTAL + ADMIN + 'inbox = "${INBOX}"\n',
        PORTAL + ADMIN + '[secure_channel]\npayload = "${PAYLOAD}"\naes_mode = "${MODE}"\n',
        PORTAL + ADMIN + '[expect]\nchapters = ["${CHAPTER}"]\n',
        PORTAL + 'other_access_code = "${OTHER}"\napi_key = "${KEY}"\n' + ADMIN,
    ],
)
def test_a_value_that_a_variable_or_a_file_gives_is_no_mistake(tmp_path: Path, text: str) -> None:
    assert validate(written(tmp_path, text)).problems == ()


@pytest.mark.parametrize(
    "text, problem",
    [
        (PORTAL + ADMIN + 'pasword = "${P}"\n', 'has no key "pasword". Did you mean "password"?'),
        (PORTAL + 'timeout = "${SECONDS}"\n' + ADMIN, '[portal] timeout must be a number, not "${…}".'),
        (
            PORTAL.replace("${CODE}", "a code") + 'other_access_code = "A CODE"\n' + ADMIN,
            "[portal] other_access_code must be the code of another portal, and is that of this one",
        ),
        (
            PORTAL + 'api_key_header = "X Key"\n' + ADMIN,
            "[portal] api_key_header must be the name of a header",
        ),
        (PORTAL.replace("${CODE}", "größer") + ADMIN, "[portal] access_code must be printable ASCII"),
        (PORTAL.replace("${CODE}", r"a\r\nX-A: b") + ADMIN, "[portal] access_code must be printable ASCII"),
        (PORTAL + 'headers = {"X-A" = "b "}\n' + ADMIN, "[portal] headers.X-A must be printable ASCII"),
        (PORTAL + 'headers = {"Content-Length" = "b"}\n' + ADMIN, "must be the name of a header"),
        (PORTAL + ADMIN + BOX + 'headers = {"X-A" = "größer"}\n', "X-A must be printable ASCII"),
        (PORTAL + ADMIN.replace("@", r"\r\n@"), "[accounts.admin] email must be one line"),
        (PORTAL + ADMIN + "[expect]\nchapters = [7]\n", "[expect] chapters number 1 must be a text"),
    ],
)
def test_a_mistake_is_named_by_its_place(tmp_path: Path, text: str, problem: str) -> None:
    path = written(tmp_path, text)

    (sentence,) = validate(path).problems

    assert sentence.startswith(f"{path}:")
    assert problem in sentence


CHANNELS = "POST /web/v1/system/notifications/channels"
TYPES = "POST /web/v1/system/notifications/channel-types"
GRANTS = "POST /web/v1/system/currency-grants"
GRANTED = f'[operations."{GRANTS}"]\nbody = {{ workspaceBizId = "{{workspace}}", currency = "JPY" }}\n'


def operation(key: str, body: str) -> str:
    return f'[operations."{key}"]\nbody = {body}\n'


@pytest.mark.parametrize(
    "key, body, why",
    [
        *(
            (f"{CHANNELS}/{verb}", '{ id = "{channel}" }', "has {channel}, so that")
            for verb in ("update", "delete", "activate", "deactivate")
        ),
        *(
            (f"{TYPES}/{verb}", '{ id = "{channel_type}" }', "has {channel_type}, so that")
            for verb in ("update", "delete", "enable", "disable")
        ),
        (f"{CHANNELS}/delete", '{ ids = ["{result_id}", "{channel}"] }', "has {channel}, so that"),
        (f"{CHANNELS}/delete", '{ id = "{account}" }', "has {account} and no {result_id}, so that"),
        (f"{CHANNELS}/delete", '{ id = "CH-1" }', "has no {result_id}, so that it does not name the record"),
        (f"{CHANNELS}/update", '{ channelName = "suite-{unique}" }', "has no {result_id}, so that"),
        (f"{GRANTS}/revoke", '{ workspaceBizId = "{workspace}" }', "has {workspace} and no {result_id}"),
    ],
)
def test_a_body_that_would_change_a_record_of_the_deployment_is_refused(
    tmp_path: Path, key: str, body: str, why: str
) -> None:
    path = written(tmp_path, PORTAL + ADMIN + GRANTED + operation(key, body))

    (problem,) = validate(path).problems

    assert problem.startswith(f'{path}:10: [operations."{key}"] body {why}')
    assert "Write {result_id} where the id of the record goes" in problem


@pytest.mark.parametrize(
    "text",
    [
        operation(f"{CHANNELS}/update", '{ id = "{result_id}", type = "{channel_type}" }'),
        operation(f"{CHANNELS}/delete", '{ name = "suite-{unique}" }'),
        GRANTED + operation(f"{GRANTS}/revoke", '{ workspaceBizId = "{workspace}", currency = "JPY" }'),
    ],
)
def test_a_body_that_names_what_the_run_made_is_valid(tmp_path: Path, text: str) -> None:
    assert validate(written(tmp_path, PORTAL + ADMIN + text)).problems == ()


def test_the_command_names_each_file_and_fails_where_one_has_a_mistake(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path, PORTAL + ADMIN)
    Path("wrong.toml").write_text(PORTAL, encoding="utf-8")

    assert main(["doctor", "--offline"]) == 0
    assert main(["doctor", "--offline", "wrong.toml", "portal.toml", "absent.toml"]) == 4

    out, err = capsys.readouterr()
    assert out == "portal.toml is valid. Values that were not read: CODE, PASSWORD.\n" * 2
    assert [line.partition(":")[0] for line in err.splitlines()] == ["wrong.toml", "absent.toml"]


@pytest.mark.parametrize(
    "text, line",
    [
        (PORTAL + ADMIN + 'pasword = "x"\n', 7),
        (PORTAL + "\n" + ADMIN.replace("email =", "# a comment\nemial ="), 7),
        (PORTAL + "[accounts.admin]\npassword = 'x'\n", 4),
        (PORTAL + ADMIN + '[inboxes.mail]\nkind = "http"\nurl = "http://a"\npattern = "("\n', 10),
        (PORTAL + ADMIN + 'inbox = "mail"\n', 7),
        (PORTAL + ADMIN + "[readings]\ninvalid-credential-status = 401\n", 8),
        (PORTAL + 'client_cert = """\n[a]\n"""\ntimeout = "ten"\n' + ADMIN, 7),
        (PORTAL + ADMIN + "[expect]\nchapters = [\n  'LOGIN',\n]\nmusts = -1\n", 11),
        (PORTAL + ADMIN + 'limits.max_mails = "few"\n', 7),
        ("profile = 1\nlimits.max_mails = -1\n" + PORTAL + ADMIN, 2),
        (PORTAL + ADMIN + '[operations."POST /web/v1/system/auth/pasword/change"]\nbody = {}\n', 7),
        ("# x\nprofile = 2\n", 2),
        ("# x\n[portal\n", 2),
        (PORTAL + "[acounts.admin]\n" + ADMIN, 4),
    ],
)
def test_a_mistake_is_named_by_its_line(tmp_path: Path, text: str, line: int) -> None:
    path = written(tmp_path, text)

    assert [problem.partition(": ")[0] for problem in validate(path).problems] == [f"{path}:{line}"]


def test_a_guess_of_the_template_that_is_not_filled_in_is_a_mistake(tmp_path: Path) -> None:
    lines = template.text().splitlines()
    body = next(at for at, line in enumerate(lines) if "channelHost" in line)
    lines[body - 1 : body + 1] = [line.removeprefix("# ") for line in lines[body - 1 : body + 1]]
    lines.append('[records]\nworkspace = "…"')
    path = written(tmp_path, "\n".join(lines))

    first, second = sorted(validate(path).problems, key=len)

    assert first.startswith(f'{path}:{len(lines) + 1}: [records] workspace is still "…"')
    assert second.startswith(f'{path}:{body + 1}: [operations."POST ')
    assert 'body.channelHost is still "…"' in second
    variables = {"PORTAL_ACCESS_CODE": "code", "ADMIN_PASSWORD": "password", "ADMIN_OTP_SECRET": "SECRET"}
    with pytest.raises(ProfileError, match=r'body\.channelHost is still "…"'):
        load(path, variables)
