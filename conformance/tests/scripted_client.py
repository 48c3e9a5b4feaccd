"""A client that does what a person does on a portal: traffic for tests of recordings and replays."""

from __future__ import annotations

import json
import os
import time
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pyotp

from conformance.target.portal.cipher import Scheme, find_key, seal, wrap

SYSTEM = "/web/v1/system"
CONSTANTS = ("countries", "timezones", "user-mfa-methods", "user-workspace-statuses", "transfer-statuses")


@dataclass
class Walker:
    """One person with a browser. ``base`` is where the portal is reached, ``profile`` what is known of it."""

    base: str
    profile: dict[str, Any]
    hash: str = "fingerprint-0001"
    ahead: float = 0.0
    token: str = ""
    refresh: str = ""
    statuses: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.http = httpx.Client(
            base_url=self.base,
            headers={
                "X-PORTAL-ACCESS-CODE": self.profile["portal"]["access_code"],
                "X-Client-Hash": self.hash,
                "X-LOCALE": "en",
                "CF-Connecting-IP": "203.0.113.7",
                "X-Forwarded-Proto": "https",
            },
        )
        self._requests = 0
        since = datetime.now(UTC) - timedelta(days=10)
        self._since = f"{since:%Y-%m-%dT%H:%M:%S}.000Z"
        """The earliest orders asked for: one time for the whole visit, so that equal requests stay equal."""

    @property
    def accounts(self) -> dict[str, dict[str, str]]:
        return self.profile["accounts"]  # type: ignore[no-any-return]

    def browser(self, hash: str, *, ahead: float = 0.0) -> Walker:
        """Another browser, by its client hash, that reaches the portal at the same address."""
        return Walker(self.base, self.profile, hash=hash, ahead=ahead)

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        """The answer's body; its status is kept."""
        self._requests += 1
        own = {"X-Request-Id": f"{self.hash}-{self._requests}", **headers}
        if self.token:
            own.setdefault("Authorization", f"Bearer {self.token}")
        answer = self.http.request(method, path, json=body, headers=own)
        self.statuses.append(answer.status_code)
        return answer.json()

    def get(self, path: str, **headers: str) -> Any:
        return self.call("GET", f"{SYSTEM}{path}", **headers)

    def post(self, path: str, body: Any = None, **headers: str) -> Any:
        return self.call("POST", f"{SYSTEM}{path}", {} if body is None else body, **headers)

    # --- what a person does

    def sign_in(self, account: dict[str, str], *, errs: bool = False) -> None:
        """By authenticator, or by the mailed code; ``errs``: mistypes the password and the code first."""
        for _ in self.sign_in_by_steps(account, errs=errs):
            pass

    def sign_in_by_steps(self, account: dict[str, str], *, errs: bool = False) -> Iterator[None]:
        """A sign-in that stops for others when it has begun, and when it has a code."""
        self.token = ""
        email = account["email"]
        if errs:
            self.post("/auth/login/initiate", {"email": email, "password": "not the password"})
        begun = self.post("/auth/login/initiate", {"email": email, "password": account["password"]})
        yield
        session = begun["data"]["sessionId"]
        method = 10011002 if account.get("mfa") == "OTP" else 10011001
        if errs:
            self.post("/auth/login/complete", {"sessionId": session, "method": method, "code": "000000"})
        if method == 10011001:
            self.post("/auth/login/mfa/send", {"sessionId": session, "method": method})
        code = self.code(account)
        yield
        done = self.post("/auth/login/complete", {"sessionId": session, "method": method, "code": code})
        self.token, self.refresh = done["data"]["accessToken"], done["data"]["refreshToken"]

    def code(self, account: dict[str, str]) -> str:
        if account.get("mfa") == "OTP":
            return pyotp.TOTP(account["otp_secret"]).at(int(time.time() + self.ahead))
        url = self.profile["inboxes"]["mail"]["url"].replace("{email}", account["email"])
        mails = httpx.get(url).json()
        found = json.dumps(mails[0] if isinstance(mails, list) else mails)
        words = found.replace('"', " ").replace(".", " ").split()
        return next(word for word in words if word.isdigit() and len(word) == 6)

    def look_around(self) -> None:
        """Reads, as pages do when they open."""
        self.get("/profile")
        self.get("/workspaces/mine")
        workspace = self.get("/workspaces/current")["data"]
        self.get("/security/mfa")
        self.get("/security/sessions")
        self.get("/security/sessions/config")
        self.get("/security/sessions/history")
        self.get("/security/ip-whitelist")
        self.get("/security/mfa/backup-codes")
        self.get("/profile/invitations?statuses=10050301&statuses=10050302")
        self.get("/invitations")
        self.get("/currency-grants")
        self.get(f"/institutions/{workspace['institutionBizId']}")
        for suffix in CONSTANTS:
            self.get(f"/constants/{suffix}")
        for role in self.get("/roles")["data"][:2]:
            self.get(f"/roles/{role['bizId']}")
            self.get(f"/roles/{role['bizId']}/permissions")
        self.look_at_orders(workspace["bizId"])
        self.look_at_accounts()

    def look_at_orders(self, workspace: str) -> None:
        path = f"/web/v1/admin/transfer/query/orders/workspace/{workspace}"
        bot = {self.profile["bot_challenge"]["header"]: self.profile["bot_challenge"]["token"]}
        for query in ("", "?page=1&size=5&sort=createdAt,desc", f"?startTime={self._since}&size=3"):
            self.call("GET", path + query, **bot)

    def look_at_accounts(self) -> None:
        filters = dict.fromkeys(("institutionBizId", "accountPortal", "accountStatus", "email", "name"))
        for page in (0, 1):
            asked = {**filters, "page": page, "size": 5}
            found = self.post("/accounts/admin/query", asked)["data"]["accounts"]
        self.get(f"/accounts/admin/{found[0]['bizId']}")
        self.get("/accounts/admin/does-not-exist")

    def look_at_a_file(self) -> None:
        """Its id is known from elsewhere: no answer gives it."""
        self.get(f"/files/{self.profile['records']['file']}")

    def change_things(self) -> None:
        """Changes the own profile, and makes, changes and removes a channel."""
        own = self.get("/profile")["data"]
        fields = ("accountName", "accountPhone", "defaultLanguage", "defaultTimezone", "defaultCountry")
        self.post("/profile/update", {**{name: own[name] for name in fields}, "accountName": "Renamed"})
        self.get("/profile")
        self.post("/profile/update", {name: own[name] for name in fields})
        channel = self.channel()
        named = {"bizId": channel}
        self.post("/notifications/channels/update", {**named, "channelName": "Another name"})
        self.post("/notifications/channels/deactivate", named)
        self.post("/notifications/channels/query", {"bizId": channel, "activeOnly": False})
        self.post("/notifications/channels/delete", named)
        self.post("/notifications/channel-types/query", {"enabledOnly": True})
        sent = self.post(
            "/invitations", {"inviteeEmail": "guest@example.test", "message": "Welcome", "expirationDays": 3}
        )
        self.get("/invitations")
        if isinstance(sent["data"], dict) and "bizId" in sent["data"]:
            self.post("/invitations/cancel", {"invitationBizId": sent["data"]["bizId"], "reason": "Mistaken"})

    def channel(self) -> str:
        key = "POST /web/v1/system/notifications/channels/create"
        text = json.dumps(self.profile["operations"][key]["body"]).replace("{unique}", "walker")
        return str(self.post("/notifications/channels/create", json.loads(text))["data"]["bizId"])

    def change_password(self, old: str, new: str) -> None:
        """Through the secure channel, with a key made for it."""
        session, key = self.open_channel()
        body = {"oldPassword": old, "newPassword": new}
        sealed = json.dumps({"v": 2, "p": seal(json.dumps(body).encode(), key, Scheme())})
        self.post("/auth/password/change", sealed, **{"X-Secure-Channel-Session-Id": session})

    def open_channel(self) -> tuple[str, bytes]:
        offered = self.call("GET", "/web/v1/secure-channel/public-key")["data"]
        found = find_key(offered, id_field="keyId", key_field="publicKey")
        assert found is not None
        keys = os.urandom(32), os.urandom(32)
        wrapped = [wrap(key, found.public, rsa="oaep-sha256", mgf1="sha256") for key in keys]
        body = {"keyId": found.id, "encReqKey": wrapped[0], "encRespKey": wrapped[1]}
        return self.call("POST", "/web/v1/secure-channel/session", body)["data"]["sessionId"], keys[0]

    def renew_token(self) -> None:
        done = self.post("/auth/token/refresh", {"refreshToken": self.refresh}, Authorization="")
        self.token, self.refresh = done["data"]["accessToken"], done["data"]["refreshToken"]

    def sign_out(self) -> None:
        self.post("/auth/logout")
        self.get("/profile")

    def visit(self, *, changes: bool = True) -> None:
        """A whole visit: signs in with mistakes, looks around, changes things, signs out."""
        admin = self.accounts["admin"]
        self.get("/profile")
        self.sign_in(admin, errs=True)
        self.look_around()
        self.look_at_a_file()
        if changes:
            self.change_things()
            self.change_password(admin["password"], "Another-password-1")
            self.change_password("Another-password-1", admin["password"])
        self.renew_token()
        self.get("/profile")
        self.sign_out()


def walk(base: str, profile_text: str) -> Walker:
    """A whole visit of the portal at an address."""
    walker = Walker(base, tomllib.loads(profile_text))
    walker.visit()
    return walker
