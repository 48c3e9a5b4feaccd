"""What is sealed opens again, in every mode and order, and keys are read in every form they come in."""

from __future__ import annotations

import base64
import json

import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from conformance.target.portal.cipher import (
    Scheme,
    find_id,
    find_key,
    read_key,
    seal,
    sealed_payload,
    unseal,
    wrap,
)
from conformance.traffic.exchange import Json

KEY = bytes(range(32))
PRIVATE = rsa.generate_private_key(public_exponent=65537, key_size=2048)
PUBLIC = PRIVATE.public_key()
NUMBERS = PUBLIC.public_numbers()
DER = PUBLIC.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
PEM = PUBLIC.public_bytes(
    serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
).decode()
PKCS1 = PUBLIC.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.PKCS1)


def number(value: int) -> str:
    return base64.urlsafe_b64encode(value.to_bytes((value.bit_length() + 7) // 8, "big")).decode().rstrip("=")


JWK = {"kty": "RSA", "n": number(NUMBERS.n), "e": number(NUMBERS.e)}


@pytest.mark.parametrize(
    "scheme",
    [
        Scheme("gcm", "iv+ciphertext+tag"),
        Scheme("gcm", "iv+tag+ciphertext"),
        Scheme("gcm", "ciphertext+tag+iv"),
        Scheme("cbc", "iv+ciphertext"),
        Scheme("cbc", "ciphertext+iv"),
        Scheme("cbc", "iv+ciphertext+tag"),
    ],
)
@pytest.mark.parametrize("plain", [b"", b"{}", b"x" * 1000, "ü".encode()])
def test_what_is_sealed_opens_again(scheme: Scheme, plain: bytes) -> None:
    payload = seal(plain, KEY, scheme)

    assert unseal(payload, KEY, scheme) == plain
    assert seal(plain, KEY, scheme) != payload


@pytest.mark.parametrize(
    "payload", ["", "no base64!", base64.b64encode(b"short").decode(), base64.b64encode(bytes(64)).decode()]
)
@pytest.mark.parametrize("scheme", [Scheme(), Scheme("cbc", "iv+ciphertext")])
def test_what_cannot_be_opened_is_a_value_error(payload: str, scheme: Scheme) -> None:
    with pytest.raises(ValueError, match="cannot be decrypted"):
        unseal(payload, KEY, scheme)


@pytest.mark.parametrize(
    "rsa_name, mgf1, reads",
    [
        ("oaep-sha256", "sha256", padding.OAEP(padding.MGF1(hashes.SHA256()), hashes.SHA256(), None)),
        ("oaep-sha256", "sha1", padding.OAEP(padding.MGF1(hashes.SHA1()), hashes.SHA256(), None)),
        ("oaep-sha1", "sha1", padding.OAEP(padding.MGF1(hashes.SHA1()), hashes.SHA1(), None)),
        ("pkcs1v15", "sha256", padding.PKCS1v15()),
    ],
)
def test_a_wrapped_key_is_unwrapped_by_whoever_has_the_private_one(
    rsa_name: str, mgf1: str, reads: padding.AsymmetricPadding
) -> None:
    wrapped = wrap(KEY, PUBLIC, rsa=rsa_name, mgf1=mgf1)

    assert PRIVATE.decrypt(base64.b64decode(wrapped), reads) == KEY


@pytest.mark.parametrize(
    "value, format",
    [
        (base64.b64encode(DER).decode(), "spki-base64"),
        (base64.encodebytes(DER).decode(), "spki-base64"),
        (PEM, "pem"),
        (PEM.replace("\n", "\\n"), "pem"),
        (base64.b64encode(PKCS1).decode(), "spki-base64"),
        (JWK, "jwk"),
        (json.dumps(JWK), "jwk"),
    ],
)
def test_a_public_key_is_read_in_every_form(value: Json, format: str) -> None:
    read = read_key(value)

    assert read is not None
    assert read[0].public_numbers() == NUMBERS
    assert read[1] == format


@pytest.mark.parametrize(
    "value", ["", "abcd", "not a key", "{", {"kty": "RSA"}, {"n": 1, "e": 2}, None, 7, ["x"]]
)
def test_what_is_no_key_is_none(value: Json) -> None:
    assert read_key(value) is None


@pytest.mark.parametrize(
    "data, id, id_field, field",
    [
        ({"keyId": "k1", "publicKey": PEM}, "k1", "keyId", "publicKey"),
        ({"kid": "k2", "key": PEM, "algorithm": "RSA"}, "k2", "kid", "key"),
        ({"id": 3, "unheardOf": PEM}, "3", "id", "unheardOf"),
        ({"jwk": {**JWK, "kid": "k4"}}, "k4", "jwk.kid", "jwk"),
        ({**JWK, "kid": "k5"}, "k5", "kid", ""),
        ({"key": {"pem": PEM, "meta": {"id": "k6"}}}, "k6", "key.meta.id", "key.pem"),
        ({"keys": [{"kty": "EC", "kid": "k7"}, {**JWK, "kid": "k8"}]}, "k8", "keys[1].kid", "keys[1]"),
    ],
)
def test_a_key_is_found_wherever_it_stands(data: Json, id: str, id_field: str, field: str) -> None:
    found = find_key(data, id_field="keyId", key_field="publicKey")

    assert found is not None
    assert (found.id, found.id_field, found.field) == (id, id_field, field)


@pytest.mark.parametrize("id_field", ["publicKey.kid", "kid"])
def test_a_field_of_the_profile_is_a_name_or_a_path(id_field: str) -> None:
    data: Json = {"id": "of the answer", "publicKey": {**JWK, "kid": "of the key"}}

    found = find_key(data, id_field=id_field, key_field="publicKey")

    assert found is not None
    assert (found.id, found.id_field) == ("of the key", "publicKey.kid")
    assert find_id(data, id_field) == "publicKey.kid"


@pytest.mark.parametrize(
    "body, payload",
    [
        ({"v": 2, "p": "abc"}, "abc"),
        ('{"v": 2, "p": "abc"}', "abc"),
        ({"v": 2}, None),
        ({"p": 7, "v": 2}, None),
        ("text", None),
        (None, None),
    ],
)
def test_an_encrypted_body_is_known_by_its_two_fields(body: Json, payload: str | None) -> None:
    assert sealed_payload(body) == payload
