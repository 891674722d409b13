"""Seals: how Candor recognises the reasoning that it handed out itself.

A seal is an HMAC-SHA256 over the text with a key of the operator's. A blob that carries text holds both. What
does not verify is somebody else's: it is ignored and said so, never an error.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import hashlib
import hmac
import os
import secrets
import tempfile
from pathlib import Path

_SIGNATURE_PREFIX = "cs1."
_BLOB_PREFIX = "cb1."


class Seals:
    """Signs and verifies reasoning text with one key."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def sign(self, text: str) -> str:
        """The seal of ``text``, in base64."""
        digest = hmac.new(self._key, text.encode(), hashlib.sha256).digest()
        return _SIGNATURE_PREFIX + base64.b64encode(digest).decode()

    def verifies(self, text: str, seal: str) -> bool:
        """Whether ``seal`` is ours and belongs to ``text``; constant-time."""
        return hmac.compare_digest(self.sign(text).encode(), seal.encode("utf-8", "replace"))

    def wrap(self, text: str) -> str:
        """An opaque blob that holds ``text`` and its seal."""
        return _BLOB_PREFIX + base64.b64encode(f"{self.sign(text)}\n{text}".encode()).decode()

    def unwrap(self, blob: str) -> str | None:
        """The text inside a blob of ours, or None for anyone else's."""
        if not blob.startswith(_BLOB_PREFIX):
            return None
        try:
            seal, _, text = (
                base64.b64decode(blob[len(_BLOB_PREFIX) :], validate=True).decode().partition("\n")
            )
        except (binascii.Error, ValueError):
            return None
        return text if self.verifies(text, seal) else None


def load_key(configured: str, key_file: Path) -> bytes:
    """The configured key, or the one in ``key_file``, which is made (mode 0600) when it is not there.

    Several processes may start at once: the file appears whole, and whoever comes second uses the first's.
    """
    if configured:
        return configured.encode()
    if not key_file.exists():
        key_file.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=key_file.parent)
        try:
            os.write(handle, secrets.token_hex(32).encode())
            os.fchmod(handle, 0o600)
            with contextlib.suppress(FileExistsError):
                os.link(name, key_file)
        finally:
            os.close(handle)
            os.unlink(name)
    return key_file.read_bytes()
