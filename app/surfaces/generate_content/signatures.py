"""thoughtSignature: seals in a field that is base64 by type.

The text of a seal is base64 after a prefix that ends in a dot; a slash in the dot's place makes the whole of it
base64, so SDKs that decode and encode the field give it back. They may do so in the URL-safe alphabet.
"""

from __future__ import annotations

import base64
import hmac

from app.seals import Seals

PLACEHOLDERS = frozenset({"skip_thought_signature_validator", "context_engineering_is_the_way_to_go"})
"""What clients write, by the vendor's advice, where they have no signature; never a foreign seal."""

_ENCODED_PLACEHOLDERS = frozenset(
    base64.b64encode(text.encode()).decode().rstrip("=") for text in PLACEHOLDERS
)
_PREFIX = 3
_BLOB = "cb1/"


def to_field(seal: str) -> str:
    """``cs1.AAAA`` -> ``cs1/AAAA``."""
    return f"{seal[:_PREFIX]}/{seal[_PREFIX + 1 :]}"


def _from_field(value: str) -> str:
    standard = value.replace("-", "+").replace("_", "/")
    standard += "=" * (-len(standard) % 4)
    return f"{standard[:_PREFIX]}.{standard[_PREFIX + 1 :]}"


def is_placeholder(value: str) -> bool:
    """Whether ``value`` stands for "no signature", as text or as the base64 of it."""
    return value in PLACEHOLDERS or value.rstrip("=") in _ENCODED_PLACEHOLDERS


def looks_like_blob(value: str) -> bool:
    """Whether ``value`` has the form of a seal of ours that holds its text."""
    return value[:4].replace("_", "/") == _BLOB


def verifies(seals: Seals, text: str, value: str) -> bool:
    """Whether ``value`` is our seal of ``text``."""
    return is_seal(seals.sign(text), value)


def is_seal(seal: str, value: str) -> bool:
    """Whether ``value`` is ``seal`` as the field spells it; constant-time."""
    return hmac.compare_digest(seal.encode(), _from_field(value).encode("utf-8", "replace"))


def unwrap(seals: Seals, value: str) -> str | None:
    """The reasoning inside a blob of ours; None for anyone else's signature."""
    return seals.unwrap(_from_field(value)) if looks_like_blob(value) else None
