"""Access tokens: signed here, and accepted only from here."""

import datetime
import hashlib
import time
import uuid
from typing import Any

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm

from rehearsal.arm import errors
from rehearsal.arm.home import DamagedError, Home, Principal
from rehearsal.certificates import write_key

LIFETIME = 3600
ALGORITHM = "RS256"
# The application id of AKS's API servers, the same in every tenant.
SERVER_APPLICATION = "6dae42f8-4368-4678-94ff-3960e28e3630"
# The audience of tokens of others, such as GitHub, that are exchanged for Azure's.
FEDERATION = "api://AzureADTokenExchange"


class Issuer:
    """Signs and checks the tokens of one rehearsal cloud."""

    def __init__(self, key: rsa.RSAPrivateKey) -> None:
        self._key = key
        self._public = key.public_key()
        encoded = self._public.public_bytes(
            serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        self.key_id = hashlib.sha256(encoded).hexdigest()[:16]

    def issue(self, principal: Principal, audience: str, issuer: str) -> str:
        now = datetime.datetime.now(datetime.UTC)
        claims = {
            "aud": audience,
            "iss": issuer,
            "iat": now,
            "nbf": now,
            "exp": now + datetime.timedelta(seconds=LIFETIME),
            "appid": principal.client_id,
            "oid": principal.object_id,
            "sub": principal.object_id,
            "tid": principal.directory,
            "uti": str(uuid.uuid4()),
        }
        return jwt.encode(claims, self._key, ALGORITHM, headers={"kid": self.key_id})

    def check(self, authorization: str | None, audience: str) -> None:
        """Refuses an Authorization header without a valid token of this cloud."""
        if not authorization:
            raise errors.ArmError(errors.NO_AUTHORIZATION)
        scheme, _, token = authorization.partition(" ")
        if scheme.lower() != "bearer" or not token:
            raise errors.ArmError(errors.WRONG_SCHEME)
        try:
            jwt.decode(
                token, self._public, [ALGORITHM], {"require": ["aud", "exp"]}, audience=audience
            )
        except jwt.ExpiredSignatureError:
            expiry = jwt.decode(token, options={"verify_signature": False})["exp"]
            times = {"expiry": _in_us_form(expiry), "now": _in_us_form(time.time())}
            raise errors.ArmError(errors.EXPIRED_TOKEN, **times) from None
        except jwt.InvalidAudienceError:
            raise errors.ArmError(errors.WRONG_AUDIENCE, audience=audience) from None
        except (jwt.InvalidTokenError, UnicodeError):
            raise errors.ArmError(errors.INVALID_TOKEN) from None

    def public_keys(self) -> dict[str, Any]:
        """Returns the JSON Web Key Set with which clients check tokens."""
        key = RSAAlgorithm.to_jwk(self._public, as_dict=True)
        del key["key_ops"]
        return {"keys": [key | {"use": "sig", "alg": ALGORITHM, "kid": self.key_id}]}


def _in_us_form(seconds: float) -> str:
    moment = datetime.datetime.fromtimestamp(seconds, datetime.UTC)
    return f"{moment.month}/{moment.day}/{moment.year} {moment:%I:%M:%S %p}".replace(" 0", " ")


def load(home: Home) -> Issuer:
    """Returns the token issuer of this home; its key is created at the first start."""
    if home.token_key.exists():
        try:
            key = serialization.load_pem_private_key(home.token_key.read_bytes(), None)
        except ValueError:
            key = None
        if not isinstance(key, rsa.RSAPrivateKey):
            raise DamagedError(f"{home.token_key.name} is damaged")
        return Issuer(key)
    new_key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    write_key(home.token_key, new_key)
    return Issuer(new_key)
