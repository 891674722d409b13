"""Every switch: name, default, meaning. One table, read once, which also writes docs/ENV-SWITCHES.md.

Boolean switches accept exactly ``0`` or ``1``. A bad value raises SettingsError, whose text names the switch.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass, field, fields
from typing import Any, Literal, TypeVar, cast
from urllib.parse import urlsplit

T = TypeVar("T")

PREFIXES = ("CANDOR_", "DEVIN_CONNECT_")
"""How the name of every switch begins."""

_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://([a-z0-9._-]+|\[[0-9a-f:.]+\])(:[0-9]{1,5})?")
_DECIMAL = re.compile(r"[0-9]+(\.[0-9]*)?|\.[0-9]+")


class SettingsError(ValueError):
    """A switch has a value that cannot be meant; the text names the switch."""


@dataclass(frozen=True, slots=True)
class Switch:
    """One row of the table. ``default`` is the text that the environment would hold."""

    name: str
    default: str
    meaning: str
    parse: Callable[[str], Any]
    secret: bool = False
    unconfirmed: bool = False


def _switch(
    name: str,
    default: str,
    meaning: str,
    parse: Callable[[str], T],
    *,
    secret: bool = False,
    unconfirmed: bool = False,
) -> T:
    row = Switch(name, default, meaning, parse, secret, unconfirmed)
    return field(default_factory=lambda: parse(default), metadata={"switch": row}, repr=not secret)


def _flag(text: str) -> bool:
    if text not in ("0", "1"):
        raise ValueError("must be 0 or 1")
    return text == "1"


def _text(text: str) -> str:
    return text


def _number(low: float, high: float) -> Callable[[str], float]:
    def parse(text: str) -> float:
        value = float(text) if _DECIMAL.fullmatch(text) else math.nan
        if not low <= value <= high:
            raise ValueError(f"must be a number from {low:g} to {high:g}")
        return value

    return parse


def _is_number(text: str) -> bool:
    """Whether ``text`` is a whole number of ASCII digits, and of no more than any switch can want."""
    return text.isascii() and text.isdigit() and len(text) <= 20


def _integer(low: int, high: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        if not _is_number(text) or not low <= int(text) <= high:
            raise ValueError(f"must be a whole number from {low} to {high}")
        return int(text)

    return parse


def _one_of(*choices: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text not in choices:
            raise ValueError(f"must be one of {', '.join(choices)}")
        return text

    return parse


def _list(text: str) -> tuple[str, ...]:
    return tuple(item.strip() for item in text.split(",") if item.strip())


def _url(text: str) -> str:
    if not text.startswith(("http://", "https://")):
        raise ValueError("must start with http:// or https://")
    parts = urlsplit(text)
    if not parts.hostname or parts.port == 0 or parts.query or parts.fragment or " " in text:
        raise ValueError("must be a host, perhaps with a port and a path")
    return text.rstrip("/")


def _origins(text: str) -> tuple[str, ...]:
    origins = _list(text)
    for origin in origins:
        if origin != "*" and not _ORIGIN.fullmatch(origin):
            raise ValueError(
                f"'{origin}' is not an origin as browsers send it, such as https://example.com:8443"
            )
    if "*" in origins and len(origins) > 1:
        raise ValueError("* stands alone")
    return origins


def _store(text: str) -> str:
    if text and not text.startswith(("sqlite:", "redis://", "rediss://", "unix://")):
        raise ValueError("must be sqlite:PATH or a redis://, rediss:// or unix:// address")
    if text == "sqlite:":
        raise ValueError("sqlite: needs a path")
    return text


def _tags(text: str) -> dict[str, int]:
    tags: dict[str, int] = {}
    for item in _list(text):
        name, equals, number = item.partition("=")
        if name not in ("choice", "parallel") or not equals:
            raise ValueError(f"'{item}' is not choice=NUMBER or parallel=NUMBER")
        if name in tags:
            raise ValueError(f"'{name}' is given twice")
        if not _is_number(number) or not 1 <= int(number) <= 536_870_911:
            raise ValueError(f"'{item}' needs a positive protobuf field number")
        tags[name] = int(number)
    return tags


def _stop_reasons(text: str) -> dict[int, Literal["stop", "length", "content_filter"]]:
    reasons: dict[int, Literal["stop", "length", "content_filter"]] = {}
    for item in _list(text):
        number, _, reason = item.partition("=")
        if not _is_number(number) or reason not in ("stop", "length", "content_filter"):
            raise ValueError(f"'{item}' is not NUMBER=stop, NUMBER=length or NUMBER=content_filter")
        if int(number) in reasons:
            raise ValueError(f"{int(number)} is given twice")
        reasons[int(number)] = cast(Literal["stop", "length", "content_filter"], reason)
    return reasons


@dataclass(frozen=True)
class Settings:
    """All switches, parsed. ``Settings()`` holds the defaults; ``load`` reads an environment."""

    # The server
    bind: str = _switch("CANDOR_BIND", "127.0.0.1:8080", "Address and port that gunicorn listens on.", _text)
    workers: int = _switch("CANDOR_WORKERS", "2", "Worker processes; one per core.", _integer(1, 64))
    threads: int = _switch(
        "CANDOR_THREADS", "300", "Threads per worker; each open stream takes one.", _integer(1, 4096)
    )
    drain_s: float = _switch(
        "CANDOR_DRAIN_S",
        "30",
        "Seconds that running turns may take to finish after SIGTERM; new ones get a 503.",
        _number(0, 3600),
    )
    log_level: str = _switch(
        "CANDOR_LOG_LEVEL",
        "INFO",
        "Least level that is logged: DEBUG, INFO, WARNING or ERROR.",
        _one_of("DEBUG", "INFO", "WARNING", "ERROR"),
    )

    # Callers
    api_keys: tuple[str, ...] = _switch(
        "CANDOR_API_KEYS",
        "",
        "Keys of callers, comma-separated. With neither keys nor a file, only loopback peers are served.",
        _list,
        secret=True,
    )
    api_keys_file: str = _switch(
        "CANDOR_API_KEYS_FILE", "", "A file of caller keys, one a line; `#` starts a comment.", _text
    )
    operator_key: str = _switch(
        "CANDOR_OPERATOR_KEY",
        "",
        "Key for /metrics, /connect-metrics, /pool and live counts. Empty: loopback peers only.",
        _text,
        secret=True,
    )
    cors_origins: tuple[str, ...] = _switch(
        "CANDOR_CORS_ORIGINS",
        "",
        "Web origins whose pages may call Candor, comma-separated: `https://app.example.com`; `*`: all. "
        "Empty: none. Where only loopback peers are served, pages of an origin that is listed by name are too.",
        _origins,
    )
    max_body_mb: int = _switch(
        "CANDOR_MAX_BODY_MB", "32", "Largest request body in MiB, also after inflating.", _integer(1, 64)
    )

    # The promise
    handling: str = _switch(
        "CANDOR_HANDLING",
        "lenient",
        "`strict` refuses every parameter that would be ignored, unless the caller's Prefer header says otherwise.",
        _one_of("lenient", "strict"),
    )
    strict_parameters: tuple[str, ...] = _switch(
        "CANDOR_STRICT_PARAMETERS",
        "",
        "Ledger rows that are refused rather than ignored, comma-separated: `seed`, `chat_completions:user`.",
        _list,
    )

    # Streams
    keepalive_s: float = _switch(
        "CANDOR_KEEPALIVE_S",
        "10",
        "Seconds of silence after which a stream sends a keepalive; 0 turns keepalives off.",
        _number(0, 3600),
    )
    connect_timeout_s: float = _switch(
        "CANDOR_CONNECT_TIMEOUT_S", "5", "Seconds to connect to the upstream.", _number(0.01, 300)
    )
    first_event_timeout_s: float = _switch(
        "CANDOR_FIRST_EVENT_TIMEOUT_S",
        "120",
        "Seconds from the request to the upstream's first event that speaks.",
        _number(0.01, 7200),
    )
    idle_timeout_s: float = _switch(
        "CANDOR_IDLE_TIMEOUT_S",
        "120",
        "Seconds without a byte from the upstream once it has spoken.",
        _number(0.01, 7200),
    )
    total_timeout_s: float = _switch(
        "CANDOR_TOTAL_TIMEOUT_S", "3600", "Seconds that one turn may take in all.", _number(0.01, 86400)
    )

    # State
    state_dir: str = _switch(
        "CANDOR_STATE_DIR", "var", "Folder for what Candor keeps: the seal key, the store.", _text
    )
    seal_key: str = _switch(
        "CANDOR_SEAL_KEY",
        "",
        "Key that seals reasoning. Empty: a random one in seal.key of the state folder, made once.",
        _text,
        secret=True,
    )

    store: str = _switch(
        "CANDOR_STORE",
        "",
        "Where shared state is: `sqlite:PATH`, or `redis://HOST:PORT/DB` (`rediss://`, `unix://`) for many machines. "
        "Empty: candor.sqlite3 in the state folder.",
        _store,
        secret=True,
    )
    store_timeout_s: float = _switch(
        "CANDOR_STORE_TIMEOUT_S", "1", "Seconds that one use of the store may wait.", _number(0.01, 60)
    )
    store_cache_s: float = _switch(
        "CANDOR_STORE_CACHE_S",
        "0.2",
        "Seconds for which a worker trusts what it last read of the store; 0 reads for every turn.",
        _number(0, 60),
    )
    store_retry_s: float = _switch(
        "CANDOR_STORE_RETRY_S", "2", "Seconds between two looks at a store that is down.", _number(0.01, 3600)
    )

    # Stored replies
    store_responses: bool = _switch(
        "CANDOR_STORE_RESPONSES",
        "1",
        "Keep responses, and chat completions with `store`, for their caller; 0 keeps none and says so.",
        _flag,
    )
    stored_ttl_s: float = _switch(
        "CANDOR_STORED_TTL_S",
        "2592000",
        "Seconds for which a reply is kept (30 days).",
        _number(1, 315360000),
    )
    stored_entry_kb: int = _switch(
        "CANDOR_STORED_ENTRY_KB",
        "4096",
        "Largest reply that is kept, with its input, in KiB, compressed; a larger one says `store: false`.",
        _integer(4, 65536),
    )
    stored_caller_mb: int = _switch(
        "CANDOR_STORED_CALLER_MB",
        "128",
        "Most that is kept for one caller, in MiB, compressed; beyond it the oldest go.",
        _integer(1, 1048576),
    )
    stored_caller_count: int = _switch(
        "CANDOR_STORED_CALLER_COUNT",
        "20000",
        "Most replies that are kept for one caller; beyond it the oldest go.",
        _integer(1, 10000000),
    )
    stored_total_mb: int = _switch(
        "CANDOR_STORED_TOTAL_MB",
        "512",
        "Most that is kept in all, in MiB, compressed; beyond it the oldest go.",
        _integer(1, 1048576),
    )
    stored_total_count: int = _switch(
        "CANDOR_STORED_TOTAL_COUNT",
        "100000",
        "Most replies that are kept in all; beyond it the oldest go.",
        _integer(1, 10000000),
    )
    stored_chain: int = _switch(
        "CANDOR_STORED_CHAIN",
        "1000",
        "Most responses that `previous_response_id` goes back through; a longer chain is a 400.",
        _integer(1, 100000),
    )

    # Capacity
    cooldown_s: float = _switch(
        "CANDOR_COOLDOWN_S",
        "2",
        "First cooldown of a rate limited token when the upstream names no time; it doubles each time.",
        _number(0.01, 3600),
    )
    cooldown_max_s: float = _switch(
        "CANDOR_COOLDOWN_MAX_S", "600", "Longest cooldown of a rate limited token.", _number(0.01, 86400)
    )
    quota_cooldown_s: float = _switch(
        "CANDOR_QUOTA_COOLDOWN_S",
        "3600",
        "Cooldown of a token whose quota is exhausted when the upstream does not say when it resets.",
        _number(1, 604800),
    )
    lease_ttl_s: float = _switch(
        "CANDOR_LEASE_TTL_S",
        "15",
        "Seconds after which the leases of a worker that died are free again.",
        _number(0.1, 3600),
    )
    retry_after_floor_s: float = _switch(
        "CANDOR_RETRY_AFTER_FLOOR_S",
        "1",
        "Least Retry-After of the capacity and drought gates.",
        _number(1, 3600),
    )
    retry_after_cap_s: float = _switch(
        "CANDOR_RETRY_AFTER_CAP_S",
        "60",
        "Greatest Retry-After of the gates, and the one when no recovery is in sight.",
        _number(1, 86400),
    )
    drought_percent: float = _switch(
        "CANDOR_DROUGHT_PERCENT",
        "5",
        "Percent of quota below which every known token must be for a drought; 0 never declares one.",
        _number(0, 100),
    )
    drought_restrict: bool = _switch(
        "CANDOR_DROUGHT_RESTRICT",
        "1",
        "In a drought run models of the free tier only; 0 only reports it.",
        _flag,
    )
    quota_ttl_s: float = _switch(
        "CANDOR_QUOTA_TTL_S",
        "900",
        "Seconds for which a token's quota counts as known after the upstream told it.",
        _number(1, 604800),
    )
    retry_budget: int = _switch(
        "CANDOR_RETRY_BUDGET",
        "2",
        "Further tokens that a turn may be moved to by transient faults while nothing of its answer is out.",
        _integer(0, 16),
    )
    retry_deadline_s: float = _switch(
        "CANDOR_RETRY_DEADLINE_S",
        "60",
        "Seconds from a turn's start after which it is moved no more.",
        _number(0, 86400),
    )

    # Models and sessions
    models: str = _switch(
        "CANDOR_MODELS", "", "The models file (TOML). Empty: app/catalogue/models.toml.", _text
    )
    unknown_models: str = _switch(
        "CANDOR_UNKNOWN_MODELS",
        "refuse",
        "`forward` sends models that the file does not list to the connect upstream by their own name.",
        _one_of("refuse", "forward"),
    )
    session_from: str = _switch(
        "CANDOR_SESSION_FROM",
        "fresh",
        "`fresh`: a new upstream session id each turn. `caller`: derived from the caller's own session key.",
        _one_of("fresh", "caller"),
    )

    # The connect upstream
    connect_base_url: str = _switch(
        "DEVIN_CONNECT_BASE_URL", "http://127.0.0.1:4010", "Where the connect upstream is.", _url
    )
    connect_token: str = _switch(
        "DEVIN_CONNECT_TOKEN", "dev-token", "The upstream token.", _text, secret=True
    )
    connect_tokens_file: str = _switch(
        "DEVIN_CONNECT_TOKENS_FILE",
        "",
        "A TOML file of upstream tokens, read again when it changes; it takes the place of DEVIN_CONNECT_TOKEN.",
        _text,
    )
    connect_authorization: str = _switch(
        "DEVIN_CONNECT_AUTHORIZATION",
        "Bearer {token}",
        "Template of the authorization header; `{token}` stands for the token.",
        _text,
        secret=True,
    )
    connect_client_name: str = _switch(
        "DEVIN_CONNECT_CLIENT_NAME", "candor", "The name by which Candor tells the upstream who it is.", _text
    )
    connect_client_version: str = _switch(
        "DEVIN_CONNECT_CLIENT_VERSION", "1.0.0", "The version that goes with the client name.", _text
    )
    connect_gzip: bool = _switch(
        "DEVIN_CONNECT_GZIP", "0", "Compress request envelopes to the upstream.", _flag
    )
    connect_tool_choice: bool = _switch(
        "DEVIN_CONNECT_TOOL_CHOICE",
        "0",
        "Send `tool_choice` (#12) and `disable_parallel_tool_calls` (#11).",
        _flag,
        unconfirmed=True,
    )
    connect_tool_choice_tags: dict[str, int] = _switch(
        "DEVIN_CONNECT_TOOL_CHOICE_TAGS",
        "choice=12,parallel=11",
        "Field numbers of those two on the wire.",
        _tags,
        unconfirmed=True,
    )
    connect_prompt_cache: bool = _switch(
        "DEVIN_CONNECT_PROMPT_CACHE", "0", "Send `prompt_cache_options` (#13).", _flag, unconfirmed=True
    )
    connect_user_jwt: str = _switch(
        "DEVIN_CONNECT_USER_JWT",
        "",
        "A file whose text is sent as `user_jwt` (metadata #21). Empty: not sent.",
        _text,
        unconfirmed=True,
    )
    connect_reasoning: bool = _switch(
        "DEVIN_CONNECT_REASONING",
        "0",
        "Send reasoning of earlier turns back (ChatMessage #11).",
        _flag,
        unconfirmed=True,
    )
    connect_credit_cost: bool = _switch(
        "DEVIN_CONNECT_CREDIT_COST", "0", "Read `credit_cost` (response #14).", _flag, unconfirmed=True
    )
    connect_quota: bool = _switch(
        "DEVIN_CONNECT_QUOTA", "0", "Read `quota_basis_points` (response #26).", _flag, unconfirmed=True
    )
    connect_stop_reason_map: dict[int, Literal["stop", "length", "content_filter"]] = _switch(
        "DEVIN_CONNECT_STOP_REASON_MAP",
        "",
        "Names for finish numbers beyond 2 and 4: `3=length,5=content_filter`.",
        _stop_reasons,
    )


def switches() -> list[tuple[str, Switch]]:
    """(attribute of Settings, its row), in the table's order."""
    return [(item.name, _row(item)) for item in fields(Settings)]


def _row(item: Field[Any]) -> Switch:
    return cast(Switch, item.metadata["switch"])


def load(environ: Mapping[str, str]) -> Settings:
    """Read every switch from ``environ``; one that is absent or empty keeps its default.

    Raises SettingsError for the first bad value. An empty text means the default, as `.env` files write it.
    """
    values: dict[str, Any] = {}
    for attribute, row in switches():
        text = environ.get(row.name, "") or row.default
        try:
            values[attribute] = row.parse(text)
        except ValueError as error:
            shown = "(secret)" if row.secret else repr(text)
            raise SettingsError(f"{row.name}={shown}: {error}") from None
    return Settings(**values)


def unknown_names(environ: Mapping[str, str]) -> list[str]:
    """Names in ``environ`` that look like Candor's and that no switch has: a misspelt switch does nothing."""
    known = {row.name for _, row in switches()}
    return sorted(name for name in environ if name.startswith(PREFIXES) and name not in known)
