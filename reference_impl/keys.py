"""Asymmetric keys, made once per process: a portal is built far more often than a key is worth."""

from functools import cache

from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa


@cache
def rsa_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


@cache
def ec_key() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


ed_key = cache(ed25519.Ed25519PrivateKey.generate)
