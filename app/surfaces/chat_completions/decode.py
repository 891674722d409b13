"""JSON body -> Turn: what stands at the top of the body. Messages and tools have rooms of their own.

Shapes are those of the openai SDK's ``CompletionCreateParams`` (3.57.0). Types are checked for ignored
parameters too: a caller who sends ``"seed": "7"`` has made a mistake, whatever becomes of the seed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from app.surfaces import reading
from app.surfaces.chat_completions.decode_messages import read_messages
from app.surfaces.chat_completions.decode_tools import read_choice, read_functions, read_tools
from app.surfaces.surface import Decoded, RequestFacts
from app.turn.faults import invalid
from app.turn.turn import OutputFormat, Sampling, Turn

MAX_STOPS = 4
INT64 = 2**63


@dataclass(frozen=True, slots=True)
class Echo:
    """What the encoder must remember of the request.

    ``legacy_functions``: the caller sent ``functions`` and reads ``function_call``. ``custom_tools`` are the names
    whose calls go back as free text. ``names_tier``: the caller asked for a service tier. ``kept_messages`` are the
    messages as sent when the caller asked for the reply to be stored.
    """

    include_usage: bool
    legacy_functions: bool
    custom_tools: frozenset[str]
    metadata: dict[str, str] | None
    names_tier: bool
    kept_messages: list[Any] | None = None


def decode(body: Mapping[str, Any], facts: RequestFacts) -> Decoded:
    """The turn that ``body`` asks for.

    Raises an INVALID_REQUEST fault, with the path of the field, for a wrong type, a value out of range, a
    history that does not pair and a tool choice that the tools cannot satisfy.
    """
    for key in body:
        if key in _CHECKED:
            _CHECKED[key](body, key)
    model = reading.required_string(body, "model")
    history = read_messages(body)
    tools, functions = read_tools(body), read_functions(body)
    metadata = reading.metadata(body)
    stream = reading.boolean(body, "stream") or False
    include_usage = _include_usage(body, stream)
    newer_cap = reading.integer(body, "max_completion_tokens", low=1)
    older_cap = reading.integer(body, "max_tokens", low=1)
    turn = Turn(
        model=model,
        messages=history.messages,
        system=history.system,
        tools=tools or functions,
        tool_choice=read_choice(body, tools, functions),
        parallel_tool_calls=reading.boolean(body, "parallel_tool_calls"),
        sampling=Sampling(
            max_output_tokens=older_cap if newer_cap is None else newer_cap,
            temperature=reading.number(body, "temperature", low=0, high=2),
            top_p=reading.number(body, "top_p", low=0, high=1),
            top_k=reading.integer(body, "top_k"),
            stop=_stop(body),
        ),
        output_format=_output_format(body),
        stream=stream,
        show_reasoning=body.get("reasoning_effort") != "none" and body.get("include_reasoning") is not False,
        session_key=reading.string(body, "prompt_cache_key"),
    )
    echo = Echo(
        include_usage=include_usage,
        legacy_functions=bool(functions),
        custom_tools=frozenset(tool.name for tool in tools if tool.is_custom),
        metadata=metadata,
        names_tier=body.get("service_tier") is not None,
        kept_messages=body["messages"] if body.get("store") is True else None,
    )
    cap_path = "max_tokens" if newer_cap is None else "max_completion_tokens"
    return Decoded(turn, history.notes, echo, cap_path)


_CHECKED: dict[str, Callable[[Mapping[str, Any], str], Any]] = {
    "audio": reading.mapping,
    "enable_thinking": reading.boolean,
    "frequency_penalty": partial(reading.number, low=-2, high=2),
    "include_reasoning": reading.boolean,
    "prediction": reading.mapping,
    "presence_penalty": partial(reading.number, low=-2, high=2),
    "prompt_cache_options": reading.mapping,
    "prompt_cache_retention": reading.string,
    "reasoning_effort": reading.string,
    "safety_identifier": reading.string,
    "seed": partial(reading.integer, low=-INT64, high=INT64 - 1),
    "service_tier": reading.string,
    "store": reading.boolean,
    "user": reading.string,
    "verbosity": reading.string,
}
"""Parameters that no upstream gets: only their types are checked. Refused ones need no check."""


def _include_usage(body: Mapping[str, Any], stream: bool) -> bool:
    options = reading.mapping(body, "stream_options")
    if options is None:
        return False
    if not stream:
        raise invalid("only allowed when `stream` is true", "stream_options")
    reading.boolean(options, "include_obfuscation", "stream_options")
    return reading.boolean(options, "include_usage", "stream_options") or False


def _stop(body: Mapping[str, Any]) -> tuple[str, ...]:
    value = body.get("stop")
    if value is None:
        return ()
    if type(value) is not str and type(value) is not list:
        raise reading.wrong_type(value, "a string or an array of strings", "stop")
    stops = (value,) if type(value) is str else reading.strings(body, "stop") or ()
    reading.check_stops(stops, MAX_STOPS, "stop", is_list=type(value) is list)
    return stops


def _output_format(body: Mapping[str, Any]) -> OutputFormat | None:
    wanted = reading.mapping(body, "response_format")
    if wanted is None:
        return None
    match wanted.get("type"):
        case "text":
            return None
        case "json_object":
            return OutputFormat("json_object")
        case "json_schema":
            return _schema_format(wanted)
        case _:
            raise invalid("no such format", "response_format.type")


def _schema_format(wanted: Mapping[str, Any]) -> OutputFormat:
    at = "response_format.json_schema"
    described = reading.required_mapping(wanted, "json_schema", "response_format")
    schema = reading.mapping(described, "schema", at) or {}
    reading.json_text(schema, f"{at}.schema")
    return OutputFormat(
        "json_schema",
        schema=schema,
        name=reading.required_string(described, "name", at),
        description=reading.string(described, "description", at),
        strict=reading.boolean(described, "strict", at) or False,
    )
