"""A channel made, updated, deactivated, activated and deleted; each step is read back."""

from __future__ import annotations

from dataclasses import replace

from cases.changing import changed_beside
from cases.dating import DATED, MOVED
from cases.nobody import asked_for_nobody, reads_nobody
from cases.notifications.making import CHANNEL, NO_MASK, OwnRecord, a_record, is_left_out
from cases.notifications.test_type_changes import is_as_made, is_deleted, is_updated, leaves_the_rest
from cases.premises import A_WHILE, answered, authorized, granted, refusal_text
from cases.surroundings import Surroundings
from conformance.cases import (
    ABSENT,
    HELD,
    INVALID_PARAMETER,
    RECORD_UNKNOWN,
    Account,
    Exchange,
    Json,
    Portal,
    Untestable,
    Verify,
    contradicts,
    endpoint_of,
    equal,
    holds,
    is_error,
    is_mask,
    is_success,
    mark,
    moment,
    op,
)

CREATE, DELETE = CHANNEL.verb("create"), CHANNEL.verb("delete")


@mark.requirement(
    "CHANNEL-044", "CHANNEL-046", "CHANNEL-047", "CHANNEL-048", "CHANNEL-049", "CHANNEL-050", "CHANNEL-051",
    "CHANNEL-056", "CHANNEL-061", "CHANNEL-063", "CHANNEL-066", "MODEL-016", DATED, MOVED,
)  # fmt: skip
@mark.needs(CREATE, DELETE)
@mark.impact("mutating")
@mark.pauses(A_WHILE)
def test_a_channel_through_its_life(portal: Portal, verify: Verify, admin: Account) -> None:
    with a_record(portal, verify, admin, CHANNEL) as channel:
        listing, record = channel.read_once(lambda record: record is not None)
        verify("CHANNEL-047", holds(listing, "data.items", record is not None, channel.id, *channel.steps))
        is_as_made(channel, "CHANNEL-063", listing, record)
        is_masked(channel)

        around = Surroundings(portal, admin.token, shared=True)
        is_updated(channel, "CHANNEL-048")
        if channel.call("deactivate", "CHANNEL-049"):
            channel.repeat("deactivate")
            shows_status(channel, "CHANNEL-049", "INACTIVE")
            is_left_out(channel, "CHANNEL-044", "activeOnly", "channelStatus", "INACTIVE")
        activated = channel.call("activate", "CHANNEL-051")
        if activated:
            channel.repeat("activate")
            _, record = channel.read()
            verify.observe("channel-activate-status", activated, (record or {}).get("channelStatus"))
        leaves_the_rest(channel, around)
        is_deleted(channel, "CHANNEL-050")
        channel.observe_answers()


@mark.requirement("CHANNEL-048", "CHANNEL-061", "MODEL-020", DATED, MOVED)
@mark.needs(CREATE, DELETE, "accounts.spare")
@mark.impact("mutating")
@mark.pauses(2 * A_WHILE)
def test_an_update_by_another_account_changes_no_more(
    portal: Portal, verify: Verify, admin: Account, spare: Account
) -> None:
    """Not who created the channel, either."""
    own, other = (authors_of(portal, account) for account in (admin, spare))
    with a_record(portal, verify, admin, CHANNEL) as channel:
        listing, record = channel.read_once(lambda record: record is not None)
        is_by(channel, listing, record, "createdBy", (own, other))
        is_updated(replace(channel, by=spare), "CHANNEL-048")
        if len(channel.steps) > 1 and channel.steps[-1].success:
            listing, record = channel.read_once(
                lambda record: record is None or record.get("updatedBy") not in own.values()
            )
            is_by(channel, listing, record, "updatedBy", (other, own))
            portal.clock.wait(A_WHILE, "a time that a change sets")
            before = moment((record or {}).get("updatedAt"))
            if channel.call("deactivate", "MODEL-020"):
                listing, record = channel.read_once(
                    lambda record: record is None or record.get("channelStatus") == "INACTIVE"
                )
                after = moment((record or {}).get("updatedAt"))
                if before is not None and after is not None and after > before:
                    is_by(channel, listing, record, "updatedBy", (own, other))


INSTITUTION = "institutionBizId"


def authors_of(portal: Portal, account: Account) -> dict[str, Json]:
    """By what an account may be named, in which form is not stated."""
    profile = granted(portal.call(op.PROFILE, token=account.token)).data
    names = ("bizId", "accountEmail", "accountName", INSTITUTION)
    return {name: profile.get(name) for name in names} if isinstance(profile, dict) else {}


def is_by(
    channel: OwnRecord,
    listing: Exchange,
    record: dict[str, Json] | None,
    field: str,
    accounts: tuple[dict[str, Json], dict[str, Json]],
) -> None:
    """A field names the first of two accounts and not the second one: by whatever it names either of them."""
    value = (record or {}).get(field)
    right, wrong = ({name: text for name, text in each.items() if isinstance(text, str)} for each in accounts)
    wrong["bizId"] = right.pop(INSTITUTION, "") if value == right.get(INSTITUTION) else wrong.get("bizId", "")
    if value in right.values():
        channel.verify("MODEL-020", HELD)
    elif value in wrong.values():
        form = next(name for name, text in wrong.items() if text == value)
        at = f"data.items[{listing.data['items'].index(record)}].{field}"
        channel.verify("MODEL-020", contradicts(listing, at, right.get(form), value))


def is_masked(channel: OwnRecord) -> None:
    """The listing shows neither the password that was set nor the better part of it."""
    listing, record = channel.read()
    verify_masked(channel, listing, record or {}, "data.items[0]")


def verify_masked(channel: OwnRecord, answer: Exchange, record: dict[str, Json], place: str) -> None:
    """Where no password was set, what is no mask to see may be one."""
    shown, sent = password_in(record), password_in(channel.body)
    if isinstance(sent, str) and shown is not ABSENT:
        at, hidden = f"{place}.emailConfig.password", not tells(shown, sent)
        channel.verify("CHANNEL-046", holds(answer, at, hidden, "a mask", *channel.steps, actual=shown))
    elif isinstance(shown, str) and shown and not is_mask(shown):
        channel.verify.doubt("CHANNEL-046", f"{endpoint_of(answer)} shows {NO_MASK}")


def tells(shown: Json, password: str) -> bool:
    """Whether more than half of a password stands in what is shown, in one piece."""
    length = len(password) // 2 + 1
    pieces = (password[start : start + length] for start in range(len(password) - length + 1))
    return isinstance(shown, str) and any(piece in shown for piece in pieces)


def password_in(record: Json) -> Json:
    config = record.get("emailConfig")
    return config.get("password", ABSENT) if isinstance(config, dict) else ABSENT


def shows_status(channel: OwnRecord, requirement: str, status: str) -> None:
    listing, record = channel.read_once(
        lambda record: record is None or record.get("channelStatus") == status
    )
    if record is not None:
        at = f"data.items[{listing.data['items'].index(record)}].channelStatus"
        channel.verify(requirement, equal(listing, at, status, *channel.steps))


@mark.requirement(
    "CHANNEL-030", "CHANNEL-031", "CHANNEL-046", "CHANNEL-054", "CHANNEL-055", "CHANNEL-064", "CHANNEL-066",
    "MODEL-014",
)  # fmt: skip
@mark.needs(CREATE, DELETE)
@mark.impact("mutating")
@mark.pauses(A_WHILE)
def test_a_channel_is_deactivated_by_command(portal: Portal, verify: Verify, admin: Account) -> None:
    with a_record(portal, verify, admin, CHANNEL) as channel:
        record = channel.read_once(lambda record: record is not None)[1]
        if record is None:
            raise Untestable("the channel that was made is not listed", "target")
        channel.call("activate", "CHANNEL-030")
        if portal.profile.bot_challenge.token is None:
            for id in ("CHANNEL-054", "MODEL-014"):
                verify.untested(id, "the profile has no [bot_challenge] token to leave out")
        else:
            _verify_challenge(channel)

        deactivated = portal.call(
            op.CHANNEL_COMMAND_DEACTIVATE, json={"bizId": channel.id}, token=admin.token
        )
        if portal.profile.bot_challenge.token is None and deactivated.code == "4030":
            verify("CHANNEL-054", is_error(deactivated, "4030", *channel.steps))
        authorized(deactivated)
        verify("CHANNEL-030", is_success(deactivated, *channel.steps))
        channel.steps.append(deactivated)
        if deactivated.success:
            verify("CHANNEL-055", equal(deactivated, "data.bizId", channel.id, *channel.steps))
            shown = deactivated.data if isinstance(deactivated.data, dict) else {}
            verify_masked(channel, deactivated, shown, "data")
            other = changed_beside("AGREE-005", record, shown, named=("channelStatus",), elsewhere=True)
            was = {name: record[name] for name in other}
            verify("CHANNEL-064", holds(deactivated, "data", not other, was, *channel.steps, actual=other))
            shows_status(channel, "CHANNEL-031", "INACTIVE")
            again = portal.call(op.CHANNEL_COMMAND_DEACTIVATE, json={"bizId": channel.id}, token=admin.token)
            channel.is_not_unknown(again)


def _verify_challenge(channel: OwnRecord) -> None:
    """Without the bot challenge the command is refused, and the channel stays active."""
    before = channel.read()[1] or {}
    refused = answered(
        channel.portal.call(
            op.CHANNEL_COMMAND_DEACTIVATE,
            json={"bizId": channel.id},
            token=channel.by.token,
            bot_challenge=False,
        )
    )
    channel.verify("CHANNEL-054", is_error(refused, "4030", *channel.steps))
    if before.get("channelStatus") != "ACTIVE":
        channel.verify.untested("MODEL-014", "the channel was not shown as ACTIVE before", "target")
    elif not refused.success:
        channel.steps.append(refused)
        shows_status(channel, "MODEL-014", "ACTIVE")


@mark.requirement("CHANNEL-053", "CHANNEL-060", "ERROR-011")
@mark.impact("mutating")
def test_the_command_knows_no_unknown_channel(portal: Portal, verify: Verify, admin: Account) -> None:
    def ask(id: str) -> Exchange:
        return authorized(portal.call(op.CHANNEL_COMMAND_DEACTIVATE, json={"bizId": id}, token=admin.token))

    is_free = reads_nobody(portal, admin.token, "channel")
    refused = asked_for_nobody(portal, portal.record("channel"), ask, is_free=is_free)
    if refused.code in INVALID_PARAMETER:
        raise Untestable(f"an id of this form is refused as such ({refusal_text(refused)})", "environment")
    if verify("CHANNEL-053", is_error(refused, RECORD_UNKNOWN)):
        verify("CHANNEL-060", is_error(refused, "4040"))
