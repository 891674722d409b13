"""Schemas: the OpenAPI subset of ``parameters`` and ``responseSchema`` -> JSON Schema.

The subset has upper-case types, ``nullable``, ``ref``/``defs`` without the dollar sign and int64 limits that proto
JSON writes as strings (googleapis, ``google/ai/generativelanguage``, message Schema). JSON Schemas pass as they
are, but for upper-case types, which real clients write there too.
"""

from __future__ import annotations

import re
from typing import Any

from app.surfaces.generate_content.spelling import snake
from app.turn.faults import invalid
from app.turn.schema import complete_schema

DEEPEST = 100
"""Levels of schemas within schemas; a deeper one is a 400."""

_TYPES = frozenset({"string", "number", "integer", "boolean", "array", "object", "null"})
_UNSPECIFIED = "TYPE_UNSPECIFIED"
_UPPER_CASE_TYPE = re.compile(r'"type":(?:"[A-Z]|\[[^\]]*"[A-Z])')

_SCHEMA = frozenset(
    {"items", "additionalProperties", "not", "contains", "if", "then", "else", "propertyNames"}
)
_SCHEMA_LIST = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})
_SCHEMA_MAP = frozenset(
    {"properties", "patternProperties", "definitions", "$defs", "defs", "dependentSchemas"}
)
_INT64 = frozenset({"minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"})
_OPENAPI_NAMES = {
    snake(name): name for name in (*_SCHEMA, *_SCHEMA_LIST, *_SCHEMA_MAP, *_INT64, "propertyOrdering")
}


def tool_parameters(schema: Any, path: str, *, openapi: bool) -> str:
    """A tool's schema as the text of a complete JSON Schema. Raises an INVALID_REQUEST fault naming ``path``.

    ``openapi`` tells ``parameters`` from ``parametersJsonSchema``; the latter is looked into only where its text
    shows an upper-case type.
    """
    if openapi:
        schema = json_schema(schema, path, openapi=True)
    text = complete_schema(schema, path)
    if not openapi and _UPPER_CASE_TYPE.search(text) is not None:
        text = complete_schema(json_schema(schema, path, openapi=False), path)
    return text


def json_schema(schema: Any, path: str, *, openapi: bool) -> Any:
    """``schema`` as a JSON Schema; parts in which nothing changes are the caller's own objects.

    Raises an INVALID_REQUEST fault naming ``path`` for one that is nested too deeply to be written.
    """
    return _convert(schema, openapi, path, DEEPEST)


def _convert(schema: Any, openapi: bool, path: str, depth: int) -> Any:
    if not isinstance(schema, dict):
        return schema
    if not depth:
        raise invalid("is nested too deeply", path)
    keywords: dict[str, Any] = schema
    converted: dict[str, Any] = {}
    for key, value in keywords.items():
        name = _OPENAPI_NAMES.get(key, key) if openapi else key
        converted[name] = _convert_keyword(name, value, openapi, path, depth - 1)
    if openapi:
        _from_openapi(converted)
    elif converted.get("type") == _UNSPECIFIED:
        del converted["type"]
    return converted


def _convert_keyword(name: str, value: Any, openapi: bool, path: str, depth: int) -> Any:
    if name == "type":
        return [_lower(each) for each in value] if type(value) is list else _lower(value)
    if name in _SCHEMA_MAP and type(value) is dict:
        return {key: _convert(each, openapi, path, depth) for key, each in value.items()}
    if type(value) is list and (name in _SCHEMA_LIST or name == "items"):
        return [_convert(each, openapi, path, depth) for each in value]
    if name in _SCHEMA:
        return _convert(value, openapi, path, depth)
    return value


def _lower(name: Any) -> Any:
    return name.lower() if type(name) is str and name.lower() in _TYPES else name


def _from_openapi(schema: dict[str, Any]) -> None:
    """Rewrite the keywords that mean something else in JSON Schema, in place."""
    if schema.get("type") == _UNSPECIFIED:
        del schema["type"]
    for name in _INT64 & schema.keys():
        value = schema[name]
        if type(value) is str and value.isdecimal():
            schema[name] = int(value)
    reference = schema.pop("ref", None)
    if reference is not None:
        schema["$ref"] = reference.replace("#/defs/", "#/$defs/", 1) if type(reference) is str else reference
    if "defs" in schema:
        schema["$defs"] = schema.pop("defs")
    if schema.pop("nullable", None) is True:
        _allow_null(schema)


def _allow_null(schema: dict[str, Any]) -> None:
    if type(schema.get("type")) is str and schema["type"] != "null":
        schema["type"] = [schema["type"], "null"]
    if type(schema.get("anyOf")) is list:
        schema["anyOf"] = [*schema["anyOf"], {"type": "null"}]
    if type(schema.get("enum")) is list and None not in schema["enum"]:
        schema["enum"] = [*schema["enum"], None]
