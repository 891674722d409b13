"""generationConfig -> sampling and the demanded shape of the answer.

Protocol facts: https://ai.google.dev/api/generate-content#generationconfig.
"""

from __future__ import annotations

from typing import Any

from app.surfaces import reading
from app.surfaces.generate_content.schema import json_schema
from app.surfaces.generate_content.spelling import Fields
from app.turn.faults import invalid
from app.turn.turn import OutputFormat, Sampling

MOST_STOP_SEQUENCES = 5
JSON_TYPE = "application/json"
ENUM_TYPE = "text/x.enum"
PLAIN_TYPE = "text/plain"
_FORMAT_TYPES = {"APPLICATION_JSON": JSON_TYPE, "TEXT_PLAIN": PLAIN_TYPE}
"""responseFormat's own names for two of the types."""
SCHEMA_FIELDS = ("responseSchema", "responseJsonSchema", "_responseJsonSchema")


def decode_sampling(config: Fields) -> Sampling:
    """Sampling. Raises INVALID_REQUEST faults for wrong types and values outside the vendor's ranges."""
    return Sampling(
        max_output_tokens=config.integer("maxOutputTokens", low=1),
        temperature=config.number("temperature", 0, 2),
        top_p=config.number("topP", 0, 1),
        top_k=config.integer("topK"),
        stop=_stop_sequences(config),
    )


def _stop_sequences(config: Fields) -> tuple[str, ...]:
    stop = config.strings("stopSequences") or ()
    reading.check_stops(stop, MOST_STOP_SEQUENCES, config.at("stopSequences"))
    return stop


def shows_thoughts(config: Fields) -> bool:
    """Whether the caller asked for thought parts."""
    thinking = config.object("thinkingConfig")
    return thinking is not None and thinking.boolean("includeThoughts") is True


def decode_output_format(config: Fields) -> OutputFormat | None:
    """The shape that the answer must have. Raises INVALID_REQUEST faults for contradictions.

    Media types that are not served give None: the ledger refuses them.
    """
    mime_type = config.string("responseMimeType")
    schema, schema_path = _schema(config)
    listed = list(config.objects("responseFormat"))
    if listed and (mime_type is not None or schema_path):
        raise invalid(
            "the field cannot be combined with the response's media type or schema",
            config.at("responseFormat"),
        )
    if listed:
        return _from_response_format(listed)
    return _format(mime_type, config.at("responseMimeType"), schema, schema_path)


def _schema(config: Fields) -> tuple[Any, str]:
    """(JSON Schema, where it was) or (None, "")."""
    sent = [name for name in SCHEMA_FIELDS if config.get(name) is not None]
    if not sent:
        return None, ""
    path = config.at(sent[0])
    if len(sent) > 1:
        raise invalid(f"the field cannot be combined with '{sent[0]}'", config.at(sent[1]))
    schema = config.get(sent[0])
    if type(schema) is not dict:
        raise reading.wrong_type(schema, "an object", path)
    return _checked(schema, path, openapi=sent[0] == "responseSchema"), path


def _checked(schema: Any, path: str, *, openapi: bool) -> Any:
    schema = json_schema(schema, path, openapi=openapi)
    reading.json_text(schema, path)
    return schema


def _from_response_format(listed: list[Fields]) -> OutputFormat | None:
    texts = [text for entry in listed if (text := entry.object("text")) is not None]
    if len(texts) > 1:
        raise invalid("one text format is allowed, not several", texts[1].path)
    if not texts:
        return None
    text = texts[0]
    mime_type = text.string("mimeType")
    schema = text.get("schema")
    path = text.at("schema") if schema is not None else ""
    if path:
        schema = _checked(schema, path, openapi=False)
    return _format(_FORMAT_TYPES.get(mime_type or "", mime_type), text.at("mimeType"), schema, path)


def _format(mime_type: str | None, mime_path: str, schema: Any, schema_path: str) -> OutputFormat | None:
    has_schema = bool(schema_path)
    if mime_type == ENUM_TYPE:
        if not has_schema:
            raise invalid(f"'{ENUM_TYPE}' needs a schema that lists the values", mime_path)
        return OutputFormat("enum", schema=schema, strict=True)
    if mime_type == PLAIN_TYPE and has_schema:
        raise invalid(f"a schema asks for the media type '{JSON_TYPE}' or '{ENUM_TYPE}'", schema_path)
    if has_schema:
        return OutputFormat("json_schema", schema=schema, strict=True)
    return OutputFormat("json_object") if mime_type == JSON_TYPE else None
