"""The steps of a scenario: one small value each, and the validation that turns JSON into them.

``parse_steps`` is total: whatever JSON it is given, it answers with steps or with a ``StepError`` that
names the step (``steps[1]: unknown step 'txt'``).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

UINT32_MAX = 2**32 - 1
INT32_MIN, INT32_MAX = -(2**31), 2**31 - 1
LONGEST_SLEEP_MS = 600_000


class StepError(ValueError):
    """A scenario that cannot be played, in words that name the step."""


@dataclass(frozen=True, slots=True)
class Text:
    text: str


@dataclass(frozen=True, slots=True)
class Reasoning:
    text: str


@dataclass(frozen=True, slots=True)
class ToolCallStart:
    index: int
    id: str | None = None
    name: str | None = None


@dataclass(frozen=True, slots=True)
class ToolArgs:
    """A fragment of a call's arguments; ``id`` and ``name`` override what the wire would carry by itself."""

    index: int
    fragment: str = ""
    id: str | None = None
    name: str | None = None
    invalid_json: str | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    fresh: int = 0
    completion: int = 0
    cache_read: int = 0
    cache_write: int = 0


@dataclass(frozen=True, slots=True)
class Quota:
    basis_points: int


@dataclass(frozen=True, slots=True)
class CreditCost:
    cost: float


@dataclass(frozen=True, slots=True)
class Finish:
    number: int


@dataclass(frozen=True, slots=True)
class Sleep:
    ms: int


@dataclass(frozen=True, slots=True)
class End:
    pass


@dataclass(frozen=True, slots=True)
class Error:
    code: str
    message: str = ""
    retry_after_s: float | None = None
    details: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class HttpError:
    status: int
    code: str
    message: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    details: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Cut:
    clean: bool = False


@dataclass(frozen=True, slots=True)
class Raw:
    data: bytes


@dataclass(frozen=True, slots=True)
class Dribble:
    size: int


@dataclass(frozen=True, slots=True)
class OnePacket:
    pass


@dataclass(frozen=True, slots=True)
class Frame:
    gzip: bool


Said = Text | Reasoning | ToolCallStart | ToolArgs | Usage | Quota | CreditCost | Finish
Ending = End | Error | HttpError | Cut
Step = Said | Ending | Sleep | Raw | Dribble | OnePacket | Frame


def parse_steps(steps: object) -> tuple[Step, ...]:
    """JSON steps -> steps, or a ``StepError`` that names the first bad one."""
    if not isinstance(steps, Sequence) or isinstance(steps, (str, bytes)):
        raise StepError("steps: must be a list")
    parsed: list[Step] = []
    for position, raw in enumerate(steps):
        where = f"steps[{position}]"
        if parsed and isinstance(parsed[-1], (Cut, HttpError)):
            name = "cut" if isinstance(parsed[-1], Cut) else "http_error"
            raise StepError(f"{where}: nothing can follow '{name}'")
        try:
            step = _parse_step(raw)
        except StepError as error:
            raise StepError(f"{where}: {error}") from None
        if isinstance(step, HttpError) and position:
            raise StepError(f"{where}: 'http_error' must be the first step")
        parsed.append(step)
    return tuple(parsed)


def _parse_step(raw: object) -> Step:
    if not isinstance(raw, Mapping):
        raise StepError("must be an object")
    if len(raw) != 1:
        names = ", ".join(repr(key) for key in raw) or "none"
        raise StepError(f"must have exactly one key, has {names}")
    [(name, value)] = raw.items()
    match name:
        case "text":
            return Text(_string(name, value))
        case "reasoning":
            return Reasoning(_string(name, value))
        case "tool_call":
            return _tool_call(_Fields(name, value))
        case "tool_args":
            return _tool_args(_Fields(name, value))
        case "usage":
            return _usage(_Fields(name, value))
        case "quota_basis_points":
            return Quota(_integer(name, value, INT32_MIN, INT32_MAX))
        case "credit_cost":
            return CreditCost(_number(name, value))
        case "finish":
            return Finish(_integer(name, value, INT32_MIN, INT32_MAX))
        case "sleep_ms":
            return Sleep(_integer(name, value, 0, LONGEST_SLEEP_MS))
        case "end":
            _true(name, value)
            return End()
        case "error":
            return _error(_Fields(name, value))
        case "http_error":
            return _http_error(_Fields(name, value))
        case "cut":
            return _cut(value)
        case "raw_hex":
            return _raw(name, value)
        case "dribble_bytes":
            return Dribble(_integer(name, value, 1, UINT32_MAX))
        case "one_packet":
            _true(name, value)
            return OnePacket()
        case "frame":
            fields = _Fields(name, value)
            gzip = _bool("frame.gzip", fields.take("gzip"))
            fields.done()
            return Frame(gzip)
        case _:
            raise StepError(f"unknown step {name!r}")


class _Fields:
    """The members of a step's object, each to be taken once; ``done`` refuses what nobody took."""

    def __init__(self, name: str, value: object) -> None:
        if not isinstance(value, Mapping):
            raise StepError(f"'{name}' must be an object")
        self._name = name
        self._left: dict[Any, object] = dict(value)

    def path(self, key: str) -> str:
        return f"{self._name}.{key}"

    def has(self, key: str) -> bool:
        return key in self._left

    def take(self, key: str) -> object:
        if key not in self._left:
            raise StepError(f"'{self.path(key)}' is missing")
        return self._left.pop(key)

    def string(self, key: str) -> str:
        return _string(self.path(key), self.take(key))

    def optional_string(self, key: str) -> str | None:
        return self.string(key) if self.has(key) else None

    def uint32(self, key: str, default: int | None = None) -> int:
        if default is not None and not self.has(key):
            return default
        return _integer(self.path(key), self.take(key), 0, UINT32_MAX)

    def details(self) -> tuple[Mapping[str, Any], ...]:
        if not self.has("details"):
            return ()
        value = self.take("details")
        if not isinstance(value, list) or not all(isinstance(item, Mapping) for item in value):
            raise StepError(f"'{self.path('details')}' must be a list of objects")
        return tuple(value)

    def done(self) -> None:
        for key in self._left:
            raise StepError(f"unknown key '{self.path(str(key))}'")


def _tool_call(fields: _Fields) -> Step:
    step = ToolCallStart(fields.uint32("index"), fields.optional_string("id"), fields.optional_string("name"))
    fields.done()
    return step


def _tool_args(fields: _Fields) -> Step:
    index = fields.uint32("index")
    invalid_json = fields.optional_string("invalid_json")
    fragment = "" if invalid_json is not None and not fields.has("fragment") else fields.string("fragment")
    id, name = fields.optional_string("id"), fields.optional_string("name")
    step = ToolArgs(index, fragment, id, name, invalid_json)
    fields.done()
    return step


def _usage(fields: _Fields) -> Step:
    step = Usage(
        fields.uint32("fresh", 0),
        fields.uint32("completion", 0),
        fields.uint32("cache_read", 0),
        fields.uint32("cache_write", 0),
    )
    fields.done()
    return step


def _error(fields: _Fields) -> Step:
    code = _code(fields)
    message = fields.optional_string("message") or ""
    retry_after = None
    if fields.has("retry_after_s"):
        retry_after = _number(fields.path("retry_after_s"), fields.take("retry_after_s"))
        if not 0 <= retry_after <= INT32_MAX:
            raise StepError(f"'{fields.path('retry_after_s')}' must not be negative or beyond {INT32_MAX}")
    step = Error(code, message, retry_after, fields.details())
    fields.done()
    return step


def _http_error(fields: _Fields) -> Step:
    status = _integer(fields.path("status"), fields.take("status"), 300, 599)
    code = _code(fields)
    message = fields.optional_string("message") or ""
    headers: list[tuple[str, str]] = []
    if fields.has("headers"):
        path = fields.path("headers")
        raw = fields.take("headers")
        if not isinstance(raw, Mapping):
            raise StepError(f"'{path}' must be an object")
        for name, value in raw.items():
            headers.append((_header(path, name), _header(f"{path}.{name}", value)))
    step = HttpError(status, code, message, tuple(headers), fields.details())
    fields.done()
    return step


def _cut(value: object) -> Step:
    if value is True:
        return Cut()
    if value == "clean":
        return Cut(clean=True)
    raise StepError("'cut' must be true or \"clean\"")


def _raw(name: str, value: object) -> Step:
    text = _string(name, value)
    try:
        data = bytes.fromhex(text)
    except ValueError:
        raise StepError(f"'{name}' must be hexadecimal") from None
    if not data:
        raise StepError(f"'{name}' must not be empty")
    return Raw(data)


def _code(fields: _Fields) -> str:
    code = fields.string("code")
    if not code:
        raise StepError(f"'{fields.path('code')}' must not be empty")
    return code


def _string(path: str, value: object) -> str:
    if not isinstance(value, str):
        raise StepError(f"'{path}' must be a string")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise StepError(f"'{path}' must be text that UTF-8 can carry") from None
    return value


def _header(path: str, value: object) -> str:
    text = _string(path, value)
    if not text.isascii() or not text.isprintable():
        raise StepError(f"'{path}' must be printable ASCII")
    return text


def _integer(path: str, value: object, low: int, high: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise StepError(f"'{path}' must be an integer from {low} to {high}")
    return value


def _number(path: str, value: object) -> float:
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not math.isfinite(value):
        raise StepError(f"'{path}' must be a number")
    return value


def _bool(path: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise StepError(f"'{path}' must be true or false")
    return value


def _true(path: str, value: object) -> None:
    if value is not True:
        raise StepError(f"'{path}' must be true")
