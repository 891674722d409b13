"""JSON body -> Turn, for generateContent, streamGenerateContent and countTokens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from app.ledger import Disposition, Note
from app.seals import Seals
from app.surfaces.generate_content import decode_config, decode_tools
from app.surfaces.generate_content.decode_parts import ContentsDecoder
from app.surfaces.generate_content.spelling import Fields
from app.surfaces.surface import Decoded, RequestFacts
from app.turn.faults import invalid
from app.turn.history import check_tool_history
from app.turn.turn import Sampling, Turn

Framing = Literal["sse", "array"]

_QUERY_ROWS = ("fields", "prettyPrint", "quotaUser")
_QUERY_KNOWN = frozenset({"alt", "$alt", "key"})
_OTHER_QUERY_ROW = "query:*"
_FRAMINGS: dict[str | None, Framing] = {None: "array", "": "array", "json": "array", "sse": "sse"}


@dataclass(frozen=True, slots=True)
class Echo:
    """What the encoder must know of the request. ``framing`` is how a stream is cut up."""

    framing: Framing


def decode(body: dict[str, Any], facts: RequestFacts, seals: Seals) -> Decoded:
    """Body -> turn. Raises INVALID_REQUEST faults for shapes that the protocol cannot mean."""
    return _decode(Fields(body, ""), facts, seals, lenient=False)


def decode_count(body: dict[str, Any], facts: RequestFacts, seals: Seals) -> Decoded:
    """A countTokens body -> turn: a whole ``generateContentRequest``, or its fields at the top.

    History need not be whole: clients count the last turn of a conversation alone.
    """
    fields = Fields(body, "")
    request = fields.object("generateContentRequest")
    if request is None:
        return _decode(fields, facts, seals, lenient=True)
    if fields.get("contents") is not None:
        raise invalid("the field cannot be combined with 'contents'", request.path)
    return _decode(request, facts, seals, lenient=True)


def _decode(body: Fields, facts: RequestFacts, seals: Seals, *, lenient: bool) -> Decoded:
    model = _model(body, facts.path_model or "")
    contents = ContentsDecoder(seals, lenient=lenient)
    count = 0
    for content in body.objects("contents"):
        contents.content(content, count)
        count += 1
    if not count:
        raise invalid("at least one content is required", body.at("contents"))
    contents.finish()
    if not lenient:
        check_tool_history(contents.messages)
    calling = decode_tools.calling_config(body)
    tools = decode_tools.decode_tools(body, strict=decode_tools.is_validated(calling))
    config = body.object("generationConfig") or Fields({}, "generationConfig")
    turn = Turn(
        model=model,
        messages=contents.messages,
        system=_system(body),
        tools=tools.functions,
        tool_choice=decode_tools.decode_tool_choice(calling, tools),
        sampling=decode_config.decode_sampling(config) if config.raw else Sampling(),
        output_format=decode_config.decode_output_format(config) if config.raw else None,
        stream=facts.path_stream is True,
        show_reasoning=decode_config.shows_thoughts(config),
        session_key=body.string("sessionId"),
    )
    notes = [*contents.notes, *_query_notes(facts)]
    return Decoded(turn, notes, _echo(facts), max_tokens_path=config.at("maxOutputTokens"))


def model_id(name: str) -> str:
    """``models/gemini-x`` -> ``gemini-x``."""
    return name.removeprefix("models/")


def _model(body: Fields, path_model: str) -> str:
    """The model of the URL; a body may name it again, but no other."""
    model = model_id(path_model)
    named = body.string("model")
    if named and model_id(named) != model:
        raise invalid(f"the URL names another model, '{model[:100]}'", body.at("model"))
    return model


def _system(body: Fields) -> str:
    """systemInstruction as text: a string, a content of any role, or a bare part."""
    if type(body.get("systemInstruction")) is str:
        return body.string("systemInstruction") or ""
    instruction = body.object("systemInstruction")
    if instruction is None:
        return ""
    texts = [instruction.string("text") or ""]
    for part in instruction.objects("parts"):
        text = part.string("text")
        if text is None:
            raise invalid("a system instruction is made of text parts", part.path)
        texts.append(text)
    return "\n\n".join(text for text in texts if text)


def _echo(facts: RequestFacts) -> Echo:
    alt = facts.query.get("alt", facts.query.get("$alt"))
    framing = _FRAMINGS.get(alt)
    if framing is None:
        raise invalid(f"unknown value '{(alt or '')[:100]}'; supported values are: 'json', 'sse'", "alt")
    return Echo(framing)


def _query_notes(facts: RequestFacts) -> list[Note]:
    """What the query asks for beside the framing and the key."""
    notes = []
    for name in facts.query:
        if name not in _QUERY_KNOWN:
            row = f"query:{name}" if name in _QUERY_ROWS else _OTHER_QUERY_ROW
            notes.append(Note(row, f"query:{name}", Disposition.IGNORED))
    return notes
