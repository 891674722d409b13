"""Strict validation of a proxy's JSON against the official SDK response models (pydantic >= 2.12)."""

from __future__ import annotations

import enum
import functools
import json
import typing
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, TypeAdapter

# Required but nullable in the vendor's API, yet Optional = None in the SDK: pydantic accepts their absence,
# so the key itself is checked.  OpenAI: openapi.json `required`.  Anthropic: always sent, null or not.
NULLABLE_REQUIRED = {
    "chat_completion.Choice": {"logprobs"},
    "chat_completion_message.ChatCompletionMessage": {"content", "refusal"},
    "chat_completion_chunk.Choice": {"finish_reason"},
    "response.Response": {"error", "incomplete_details", "instructions", "metadata", "temperature", "top_p"},
    "response_output_text.ResponseOutputText": {"logprobs"},
    "response_error_event.ResponseErrorEvent": {"code", "param"},
    "error_object.ErrorObject": {"code", "param"},
    "message.Message": {"stop_reason", "stop_sequence"},
    "beta_message.BetaMessage": {"stop_reason", "stop_sequence"},
    "raw_message_delta_event.Delta": {"stop_reason", "stop_sequence"},
    "beta_raw_message_delta_event.Delta": {"stop_reason", "stop_sequence"},
}
# Keys no SDK model has, to be removed before the check: put a vendor extension here knowingly, or nowhere.
ALLOWED_EXTRA = {
    "response.Response": {"store", "presence_penalty", "frequency_penalty"},
    "chat_completion_message.ChatCompletionMessage": {"reasoning_content"},
    "chat_completion_chunk.ChoiceDelta": {"reasoning_content"},
}


def nodes(value: Any) -> Iterator[BaseModel | enum.Enum]:
    """Every pydantic object and enum member inside ``value``."""
    if isinstance(value, (BaseModel, enum.Enum)):
        yield value
    children = (
        [getattr(value, n) for n in type(value).model_fields]
        if isinstance(value, BaseModel)
        else value.values()
        if isinstance(value, dict)
        else value
        if isinstance(value, list)
        else ()
    )
    for child in children:
        yield from nodes(child)


def key_of(cls: type) -> str:
    return f"{cls.__module__.rsplit('.', 1)[-1]}.{cls.__name__}"


def strip_extra(cls: type[BaseModel], data: dict[str, Any]) -> dict[str, Any]:
    """``data`` without the extensions allowed for ``cls`` and for the plain objects and lists of objects inside it."""
    data = {k: v for k, v in data.items() if k not in ALLOWED_EXTRA.get(key_of(cls), ())}
    for name, field in cls.model_fields.items():
        inner = [
            t
            for t in (field.annotation, *typing.get_args(field.annotation))
            if isinstance(t, type) and issubclass(t, BaseModel)
        ]
        value, wire = data.get(field.alias or name), field.alias or name
        if len(inner) == 1 and isinstance(value, dict):
            data[wire] = strip_extra(inner[0], value)
        elif len(inner) == 1 and isinstance(value, list):
            data[wire] = [strip_extra(inner[0], v) if isinstance(v, dict) else v for v in value]
    return data


def check(cls: type[BaseModel], text: str) -> BaseModel:
    """Parse ``text`` as ``cls``: no coercion, no unknown key, no missing nullable key, no snake_case for Gemini."""
    cls.model_rebuild()
    text = json.dumps(strip_extra(cls, json.loads(text)))
    value: BaseModel = TypeAdapter(cls).validate_json(
        text, strict=True, extra="forbid", by_alias=True, by_name=False
    )
    for node in nodes(value):
        if isinstance(node, enum.Enum):  # google-genai invents a member for an unknown string, with a warning
            if node.name not in type(node).__members__:
                raise AssertionError(f"{type(node).__name__}: unknown value {node.value!r}")
        elif lacking := NULLABLE_REQUIRED.get(key_of(type(node)), set()) - node.model_fields_set:
            raise AssertionError(f"{key_of(type(node))}: required keys absent: {sorted(lacking)}")
    return value


@functools.cache
def by_tag(union: Any) -> dict[str, type[BaseModel]]:
    """{type tag: class} of an SDK event union, so that an error names one class and not fifty."""
    if isinstance(union, type) and issubclass(union, BaseModel):
        return dict.fromkeys(typing.get_args(union.model_fields["type"].annotation), union)
    return {tag: cls for arg in typing.get_args(union) for tag, cls in by_tag(arg).items()}


def check_event(union: Any, text: str) -> BaseModel:
    """One stream event; its class is chosen by ``type`` first, so an unknown type is a KeyError."""
    return check(by_tag(union)[json.loads(text)["type"]], text)
