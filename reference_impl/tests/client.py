"""A client for tests: signs in, asks, and reads envelopes."""

import base64
import json
from dataclasses import dataclass, field
from typing import Any

import httpx
import pyotp
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from reference_impl.people import SignIn
from reference_impl.portal import Portal
from reference_impl.records import Seeded
from reference_impl.routes import Row

AUTH = "/web/v1/system/auth"
METHODS = {"EMAIL": 10011001, "OTP": 10011002}
OAEP = padding.OAEP(mgf=padding.MGF1(hashes.SHA256()), algorithm=hashes.SHA256(), label=None)


@dataclass
class Client:
    http: httpx.Client
    portal: Portal
    seeded: Seeded
    headers: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.headers = {"X-PORTAL-ACCESS-CODE": self.portal.access_code} | self.headers

    def but(self, **headers: str | None) -> "Client":
        """The same client with other headers; None leaves one out."""
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        merged = {**self.headers, **given}
        other = Client(self.http, self.portal, self.seeded)
        other.headers = {name: value for name, value in merged.items() if value is not None}
        return other

    def ask(self, method: str, path: str, **more: Any) -> httpx.Response:
        headers = self.headers | more.pop("headers", {})
        return self.http.request(method, path, headers=headers, **more)

    def get(self, path: str, **query: Any) -> Any:
        """The data of a success."""
        return data_of(self.ask("GET", path, params=query))

    def post(self, path: str, body: Any = None) -> Any:
        """The data of a success."""
        return data_of(self.send(path, body))

    def send(self, path: str, body: Any = None) -> httpx.Response:
        return self.ask("POST", path, json=body) if body is not None else self.ask("POST", path)

    def advance(self, seconds: float) -> None:
        assert self.http.post("/clock/advance", json={"seconds": seconds}).status_code == 200

    def newest_code(self, email: str) -> str:
        return str(self.http.get(f"/inbox/{email}").json()[0]["code"])

    # Sign-in.

    def account(self, name: str) -> SignIn:
        return self.seeded.sign_ins[name]

    def initiate(self, name: str, password: str | None = None) -> httpx.Response:
        account = self.account(name)
        body = {"email": account.email, "password": password or account.password}
        return self.send(f"{AUTH}/login/initiate", body)

    def code(self, name: str, session: str, method: str) -> str:
        account = self.account(name)
        if method == "OTP":
            return pyotp.TOTP(account.otp_secret).at(int(self.portal.now()))
        self.post(f"{AUTH}/login/mfa/send", {"sessionId": session, "method": METHODS["EMAIL"]})
        return self.newest_code(account.email)

    def complete(self, session: str, method: str, code: str) -> httpx.Response:
        body = {"sessionId": session, "method": METHODS[method], "code": code}
        return self.send(f"{AUTH}/login/complete", body)

    def signed_in(self, name: str = "admin", method: str = "EMAIL", password: str | None = None) -> "Client":
        session = data_of(self.initiate(name, password))["sessionId"]
        tokens = data_of(self.complete(session, method, self.code(name, session, method)))
        return self.but(Authorization=f"Bearer {tokens['accessToken']}")

    def verified(self) -> "Client":
        """With the bot challenge passed."""
        return self.but(X_Turnstile_Token=self.portal.bot_token)

    # Secure channel.

    def channel(self) -> "Channel":
        key = self.get("/web/v1/secure-channel/public-key")
        public = serialization.load_der_public_key(base64.b64decode(key["publicKey"]))
        assert isinstance(public, rsa.RSAPublicKey)
        keys = [AESGCM.generate_key(256) for _ in range(2)]
        wrapped = [base64.b64encode(public.encrypt(one, OAEP)).decode() for one in keys]
        body = {"keyId": key["keyId"], "encReqKey": wrapped[0], "encRespKey": wrapped[1]}
        session = self.post("/web/v1/secure-channel/session", body)
        return Channel(session["sessionId"], keys[0])


@dataclass
class Channel:
    id: str
    request_key: bytes

    def send(self, client: Client, path: str, body: Any) -> httpx.Response:
        iv = b"0123456789ab"
        octets = iv + AESGCM(self.request_key).encrypt(iv, json.dumps(body).encode(), None)
        sealed = json.dumps({"v": 2, "p": base64.b64encode(octets).decode()})
        return client.but(X_Secure_Channel_Session_Id=self.id).send(path, sealed)


def data_of(response: httpx.Response) -> Any:
    envelope = response.json()
    assert response.status_code == 200, response.text
    assert envelope["success"] is True
    assert envelope["code"] == "2000"
    return envelope["data"]


def path_of(row: Row) -> str:
    """The path of an endpoint, with the names of its parameters for ids: nothing has them."""
    return row.path.replace("{", "").replace("}", "")


def refusal_of(response: httpx.Response) -> tuple[int, str]:
    """Status and code."""
    envelope = response.json()
    assert envelope["success"] is False
    assert envelope["data"] is None
    assert envelope["message"]
    return response.status_code, envelope["code"]


INVALID = (400, "VALIDATION.INVALID_PARAMETER")
NOT_FOUND = (404, "RESOURCE.NOT_FOUND")
SESSION_NOT_FOUND = (404, "AUTH.SESSION_NOT_FOUND")
WRONG_CODE = (400, "AUTH.MFA_CODE_INVALID")
