"""The smallest value that a JSON Schema admits, as far as a fake model needs it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, TypeGuard

MAX_DEPTH = 32
REFERENCE_DEPTH = 4
"""What following a reference costs: only references recurse, so they reach the bound sooner."""

MAX_LENGTH = 1024
MAX_ITEMS = 64

_FORMATS: tuple[tuple[str, str], ...] = (
    ("date-time", "2026-01-01T00:00:00Z"),
    ("date", "2026-01-01"),
    ("time", "00:00:00Z"),
    ("email", "x@example.com"),
    ("uri", "https://example.com/"),
    ("url", "https://example.com/"),
    ("uuid", "00000000-0000-4000-8000-000000000000"),
)


def minimal_arguments(schema_text: str) -> str:
    """The schema of a tool's parameters -> minimal arguments as JSON text (``{}`` without a schema)."""
    try:
        schema = json.loads(schema_text)
    except (ValueError, RecursionError):
        return "{}"
    value = minimal(schema, schema) if isinstance(schema, dict) else {}
    return json.dumps(value if isinstance(value, dict) else {}, ensure_ascii=False, separators=(",", ":"))


def minimal(schema: object, root: object, depth: int = 0) -> Any:
    """A minimal value for the schema; beyond the depth bound of nested and recursive schemas, ``None``."""
    if depth > MAX_DEPTH:
        return None
    if not isinstance(schema, Mapping):
        return "x"
    if isinstance(schema.get("$ref"), str):
        return minimal(_resolve(schema["$ref"], root), root, depth + REFERENCE_DEPTH)
    if "const" in schema:
        return schema["const"]
    if isinstance(schema.get("enum"), list) and schema["enum"]:
        return schema["enum"][0]
    if "default" in schema:
        return schema["default"]
    if isinstance(schema.get("allOf"), list) and schema["allOf"]:
        return minimal(_merged(schema, root), root, depth + 1)
    for key in ("anyOf", "oneOf"):
        branches = schema.get(key)
        if isinstance(branches, list) and branches and "type" not in schema and "properties" not in schema:
            return minimal(branches[0], root, depth + 1)
    return _of_type(_type(schema), schema, root, depth)


def _of_type(kind: str, schema: Mapping[str, Any], root: object, depth: int) -> Any:
    match kind:
        case "object":
            properties = _mapping(schema.get("properties"))
            return {name: minimal(properties.get(name), root, depth + 1) for name in _required(schema)}
        case "array":
            items = schema.get("prefixItems")
            items = items if isinstance(items, list) else []
            count = max(min(_integer(schema.get("minItems")), MAX_ITEMS), len(items))
            schemas = [*items, *[schema.get("items")] * (count - len(items))]
            return [minimal(item, root, depth + 1) for item in schemas]
        case "integer":
            return _number(schema, whole=True)
        case "number":
            return _number(schema, whole=False)
        case "boolean":
            return True
        case "null":
            return None
        case _:
            return _string(schema)


def _type(schema: Mapping[str, Any]) -> str:
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = next((one for one in kind if one != "null"), "null")
    if isinstance(kind, str):
        return kind.lower()
    if "properties" in schema or "required" in schema:
        return "object"
    return "array" if "items" in schema else "string"


def _string(schema: Mapping[str, Any]) -> str:
    for name, sample in _FORMATS:
        if schema.get("format") == name:
            return sample
    return "x" * max(1, min(_integer(schema.get("minLength")), MAX_LENGTH))


def _number(schema: Mapping[str, Any], *, whole: bool) -> int | float:
    """The least number that the bounds admit; without a lower one, 0 or the upper bound if that is less."""
    low, above, high = (schema.get(key) for key in ("minimum", "exclusiveMinimum", "maximum"))
    bounds: list[int | float] = []
    if _is_number(low):
        bounds.append(math.ceil(low) if whole else low)
    if _is_number(above):
        bounds.append(math.floor(above) + 1)
    value = max(bounds, default=0)
    if _is_number(high) and value > high:
        value = math.floor(high) if whole else (above + high) / 2 if _is_number(above) else high
    step = schema.get("multipleOf")
    if isinstance(step, int) and step > 0:
        value = math.ceil(value / step) * step
    return value


def _merged(schema: Mapping[str, Any], root: object) -> dict[str, Any]:
    """``allOf`` folded into one schema: properties and required united, else the last one wins."""
    merged: dict[str, Any] = {key: value for key, value in schema.items() if key != "allOf"}
    for part in schema["allOf"]:
        if isinstance(part, Mapping) and isinstance(part.get("$ref"), str):
            part = _resolve(part["$ref"], root)
        if not isinstance(part, Mapping):
            continue
        properties = {**_mapping(merged.get("properties")), **_mapping(part.get("properties"))}
        required = list(dict.fromkeys([*_required(merged), *_required(part)]))
        merged.update(part)
        if properties:
            merged["properties"] = properties
        if required:
            merged["required"] = required
    return merged


def _resolve(reference: str, root: object) -> object:
    """A local reference (``#/$defs/Thing``); one that leads nowhere is a schema without demands."""
    target = root
    if not reference.startswith("#"):
        return {}
    for part in reference[1:].split("/")[1:]:
        part = part.replace("~1", "/").replace("~0", "~")
        if not isinstance(target, Mapping) or part not in target:
            return {}
        target = target[part]
    return target


def _required(schema: Mapping[str, Any]) -> list[str]:
    required = schema.get("required")
    return [name for name in required if isinstance(name, str)] if isinstance(required, list) else []


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _integer(value: object) -> int:
    """A count; Gemini's clients write them as strings."""
    if isinstance(value, str) and value.isdecimal():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
