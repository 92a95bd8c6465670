"""The encryption of a stack's secrets with a passphrase, as in Pulumi: PBKDF2, then AES-GCM."""

import base64
import hashlib
import os

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

_ROUNDS, _KEY_BYTES, _NONCE_BYTES, _SALT_BYTES = 1_000_000, 32, 12, 8
# The text whose encryption is in a stack file, to check the passphrase.
_KNOWN = "pulumi"


class StackKey:
    """A key for what a passphrase and a stack file's `encryptionsalt` protect."""

    def __init__(self, passphrase: str, salt: str | None = None) -> None:
        """Without a salt, creates a new key."""
        seed = base64.b64decode(salt.split(":")[1]) if salt else os.urandom(_SALT_BYTES)
        key = hashlib.pbkdf2_hmac("sha256", passphrase.encode(), seed, _ROUNDS, _KEY_BYTES)
        self._key = AESGCM(key)
        self.salt = salt or f"v1:{_text(seed)}:{self.encrypted(_KNOWN, seed.hex())}"

    def encrypted(self, text: str, about: str) -> str:
        """Encrypts a text; the same text with the same `about` gives the same result."""
        nonce = hashlib.sha256(f"{about}|{text}".encode()).digest()[:_NONCE_BYTES]
        return f"v1:{_text(nonce)}:{_text(self._key.encrypt(nonce, text.encode(), None))}"


def _text(content: bytes) -> str:
    return base64.b64encode(content).decode()
