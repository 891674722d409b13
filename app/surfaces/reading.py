"""Reading JSON values with their paths: wrong types are 400s that name the field, null is absent."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import orjson

from app.turn.faults import TurnFault, invalid

_NAMES = {
    bool: "a boolean",
    int: "an integer",
    float: "a number",
    str: "a string",
    list: "an array",
    dict: "an object",
}


def type_name(value: Any) -> str:
    """The JSON type of ``value``, with its article: ``an array``."""
    return "null" if value is None else _NAMES.get(type(value), type(value).__name__)


def wrong_type(value: Any, wanted: str, path: str) -> TurnFault:
    """The fault of ``value`` not being ``wanted`` ("an array")."""
    return invalid(f"must be {wanted}, not {type_name(value)}", path, code="invalid_type")


def join(path: str, key: str) -> str:
    """``path.key``, or ``key`` at the top."""
    return f"{path}.{key}" if path else key


def string(holder: Mapping[str, Any], key: str, path: str = "") -> str | None:
    """``holder[key]`` as a string, None when absent or null."""
    value = holder.get(key)
    if value is None or type(value) is str:
        return value
    raise wrong_type(value, "a string", join(path, key))


def required_string(holder: Mapping[str, Any], key: str, path: str = "") -> str:
    """``holder[key]`` as a string that is there and not empty."""
    value = holder.get(key)
    if type(value) is str and value:
        return value
    missing = string(holder, key, path) is None
    raise invalid(
        "the field is required" if missing else "must not be empty",
        join(path, key),
        code="missing_required_parameter" if missing else None,
    )


def boolean(holder: Mapping[str, Any], key: str, path: str = "") -> bool | None:
    """``holder[key]`` as a boolean; ``"false"`` and ``0`` are not booleans."""
    value = holder.get(key)
    if value is None or type(value) is bool:
        return value
    raise wrong_type(value, "a boolean", join(path, key))


def number(
    holder: Mapping[str, Any], key: str, path: str = "", *, low: float = -math.inf, high: float = math.inf
) -> float | None:
    """``holder[key]`` as a float within ``low``..``high``."""
    value = holder.get(key)
    if value is None:
        return None
    if type(value) not in (int, float):
        raise wrong_type(value, "a number", join(path, key))
    if not low <= value <= high:
        raise invalid(f"must be from {low:g} to {high:g}, not {value!r}", join(path, key))
    return float(value)


def integer(
    holder: Mapping[str, Any], key: str, path: str = "", *, low: int = 0, high: int = 2**31 - 1
) -> int | None:
    """``holder[key]`` as an integer within ``low``..``high``; ``64.0`` is 64, ``64.5`` and ``true`` are not."""
    value = holder.get(key)
    if value is None:
        return None
    if type(value) is float and value.is_integer():
        value = int(value)
    if type(value) is not int:
        raise wrong_type(value, "an integer", join(path, key))
    if not low <= value <= high:
        raise invalid(f"must be from {low} to {high}, not {value}", join(path, key))
    return value


def array(holder: Mapping[str, Any], key: str, path: str = "") -> list[Any] | None:
    """``holder[key]`` as a list."""
    value = holder.get(key)
    if value is None or type(value) is list:
        return value
    raise wrong_type(value, "an array", join(path, key))


def mapping(holder: Mapping[str, Any], key: str, path: str = "") -> dict[str, Any] | None:
    """``holder[key]`` as an object."""
    value = holder.get(key)
    if value is None or type(value) is dict:
        return value
    raise wrong_type(value, "an object", join(path, key))


def required_mapping(holder: Mapping[str, Any], key: str, path: str = "") -> dict[str, Any]:
    """``holder[key]`` as an object that is there."""
    value = holder.get(key)
    if type(value) is dict:
        return value
    mapping(holder, key, path)
    raise invalid("the field is required", join(path, key), code="missing_required_parameter")


def objects(items: list[Any], path: str) -> Iterator[tuple[dict[str, Any], str]]:
    """(element, its path) of a list in which every element must be an object."""
    for index, item in enumerate(items):
        at = f"{path}[{index}]"
        if type(item) is not dict:
            raise wrong_type(item, "an object", at)
        yield item, at


def strings(holder: Mapping[str, Any], key: str, path: str = "") -> tuple[str, ...] | None:
    """``holder[key]`` as a list of strings."""
    values = array(holder, key, path)
    if values is None:
        return None
    for index, value in enumerate(values):
        if type(value) is not str:
            raise wrong_type(value, "a string", f"{join(path, key)}[{index}]")
    return tuple(values)


def one_of(holder: Mapping[str, Any], key: str, choices: tuple[str, ...], path: str = "") -> str | None:
    """``holder[key]`` as one of ``choices``."""
    value = string(holder, key, path)
    if value is not None and value not in choices:
        listed = ", ".join(f"'{choice}'" for choice in choices)
        raise invalid(
            f"unknown value '{value[:100]}'; supported values are: {listed}",
            join(path, key),
            code="invalid_value",
        )
    return value


def json_text(value: Any, path: str) -> str:
    """``value`` as compact JSON text; one that is nested too deeply to be written is a 400."""
    try:
        return orjson.dumps(value).decode()
    except orjson.JSONEncodeError:
        raise invalid("is nested too deeply", path) from None


def data_uri_image(url: str, path: str) -> tuple[str, str]:
    """``data:image/png;base64,AAAA`` -> (base64 text as it stands, MIME type); anything else is a 400."""
    head, comma, data = url.partition(",")
    if not url.startswith("data:") or not comma:
        raise invalid("only data: URIs with base64 data are served; remote URLs are not fetched", path)
    mime_type, _, encoding = head[5:].partition(";")
    if encoding.rpartition(";")[2] != "base64" or not mime_type.startswith("image/") or not data:
        raise invalid("must be a data: URI of an image in base64", path)
    return data, mime_type


METADATA_PAIRS = 16
METADATA_KEY_CHARACTERS = 64
METADATA_VALUE_CHARACTERS = 512


def metadata(holder: Mapping[str, Any], key: str = "metadata") -> dict[str, str] | None:
    """``holder[key]`` as labels: at most 16 pairs, keys up to 64 and values, all strings, up to 512 characters."""
    pairs = mapping(holder, key)
    if pairs is None:
        return None
    if len(pairs) > METADATA_PAIRS:
        raise invalid(f"must have at most {METADATA_PAIRS} pairs, not {len(pairs)}", key)
    for name, value in pairs.items():
        if len(name) > METADATA_KEY_CHARACTERS:
            raise invalid(
                f"a key must have at most {METADATA_KEY_CHARACTERS} characters, not {len(name)}", key
            )
        if type(value) is not str:
            raise wrong_type(value, "a string", f"{key}.{name}")
        if len(value) > METADATA_VALUE_CHARACTERS:
            problem = f"must have at most {METADATA_VALUE_CHARACTERS} characters, not {len(value)}"
            raise invalid(problem, f"{key}.{name}")
    return pairs


LONGEST_STOP = 1000
"""Characters in a stop string; every delta is compared with the beginnings of all of them."""


def check_stops(stops: Sequence[str], most: int, path: str, *, is_list: bool = True) -> None:
    """Raise a 400 for more than ``most`` stop strings, an empty one, or one beyond LONGEST_STOP characters."""
    if len(stops) > most:
        raise invalid(f"must have at most {most} strings, not {len(stops)}", path)
    for index, stop in enumerate(stops):
        at = f"{path}[{index}]" if is_list else path
        if not stop:
            raise invalid("must not be empty", at)
        if len(stop) > LONGEST_STOP:
            raise invalid(f"must have at most {LONGEST_STOP} characters, not {len(stop)}", at)
