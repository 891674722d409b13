"""The connect upstream: what it carries, and how a turn on it is opened."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

from app.settings import Settings, SettingsError
from app.turn.features import Feature
from app.turn.turn import Turn
from app.upstreams import ClientWatch, Lease
from app.upstreams.connect.client import Transport
from app.upstreams.connect.coordinates import coordinates
from app.upstreams.connect.decode import Reading, ResponseDecoder
from app.upstreams.connect.encode import Identity, RequestEncoder
from app.upstreams.connect.envelope import encode_envelope
from app.upstreams.connect.errors import ErrorReader
from app.upstreams.connect.stream import ConnectStream, Timeouts

CONFIRMED = frozenset(
    {
        Feature.SYSTEM_PROMPT,
        Feature.TOOLS,
        Feature.STRICT_TOOLS,
        Feature.IMAGES,
        Feature.MAX_OUTPUT_TOKENS,
        Feature.TEMPERATURE,
        Feature.TOP_P,
        Feature.TOP_K,
    }
)
"""What the wire carries without any switch."""

SWITCHES = {
    Feature.TOOL_CHOICE: "DEVIN_CONNECT_TOOL_CHOICE=1",
    Feature.DISABLE_PARALLEL_TOOL_CALLS: "DEVIN_CONNECT_TOOL_CHOICE=1",
    Feature.REASONING_HISTORY: "DEVIN_CONNECT_REASONING=1",
    Feature.PROMPT_CACHE: "DEVIN_CONNECT_PROMPT_CACHE=1",
    Feature.SESSION_KEY: "CANDOR_SESSION_FROM=caller",
}
"""The settings that add a feature which is off by default."""


SHORTEST_SECRET = 4
"""Characters. What is shorter is looked for in no error: it would strike words that are no secrets."""
_SEPARATORS = re.compile(r"[\s:=,;\"]+")


class ConnectUpstream:
    """See Upstream. ``clock`` gives seconds for deadlines.

    Construction raises SettingsError for tags that collide and for a user JWT file that cannot be read.
    """

    name = "connect"
    needs_lease = True

    def __init__(self, settings: Settings, clock: Callable[[], float] = time.monotonic) -> None:
        user_jwt = _user_jwt(settings.connect_user_jwt)
        self.features = _features(settings)
        self._gzip = settings.connect_gzip
        self._clock = clock
        self._timeouts = Timeouts(
            settings.first_event_timeout_s, settings.idle_timeout_s, settings.total_timeout_s
        )
        self._reading = Reading(
            settings.connect_stop_reason_map, settings.connect_credit_cost, settings.connect_quota
        )
        self._secrets = (user_jwt, *_secrets_of(settings.connect_authorization))
        self._encoder = RequestEncoder(
            self.features,
            coordinates(settings),
            Identity(settings.connect_client_name, settings.connect_client_version, user_jwt),
        )
        self._transport = Transport(settings)

    def switch_for(self, feature: Feature) -> str | None:
        """The setting that adds ``feature``; None when it is carried already or nothing adds it."""
        return None if feature in self.features else SWITCHES.get(feature)

    def open(self, turn: Turn, selector: str, lease: Lease | None, client: ClientWatch) -> ConnectStream:
        """See Upstream. Returns once the request is sent; the lease's secret is the token."""
        assert lease is not None, "a turn on the connect upstream needs a lease"
        started = self._clock()
        payload = self._encoder.encode(turn, selector, lease.secret)
        exchange = self._transport.send(encode_envelope(payload, compress=self._gzip), lease.secret, client)
        return ConnectStream(
            exchange,
            ResponseDecoder(turn, self._reading),
            ErrorReader((lease.secret, *self._secrets)),
            self._timeouts,
            started,
            self._clock,
        )

    def close(self) -> None:
        """Close idle connections."""
        self._transport.close()


def _secrets_of(template: str) -> list[str]:
    """What an authorization template says beside the token and the scheme."""
    scheme, _, rest = template.partition(" ")
    words = _SEPARATORS.split((rest or scheme).replace("{token}", " "))
    return [word for word in words if len(word) >= SHORTEST_SECRET]


def _features(settings: Settings) -> frozenset[Feature]:
    features = set(CONFIRMED)
    if settings.connect_tool_choice:
        features |= {Feature.TOOL_CHOICE, Feature.DISABLE_PARALLEL_TOOL_CALLS}
    if settings.connect_reasoning:
        features.add(Feature.REASONING_HISTORY)
    if settings.connect_prompt_cache:
        features.add(Feature.PROMPT_CACHE)
    if settings.session_from == "caller":
        features.add(Feature.SESSION_KEY)
    return frozenset(features)


def _user_jwt(path: str) -> str:
    """The text of the user JWT file, stripped; empty when none is named."""
    if not path:
        return ""
    try:
        with open(path, encoding="ascii") as file:
            text = file.read().strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not ASCII text"
        raise SettingsError(f"DEVIN_CONNECT_USER_JWT={path!r}: the file cannot be read: {reason}") from None
    if not text:
        raise SettingsError(f"DEVIN_CONNECT_USER_JWT={path!r}: the file is empty")
    return text
