"""Rows of roles and content blocks."""

from __future__ import annotations

from app.ledger import Disposition, Parameter
from app.surfaces.messages.ledger import rules
from app.surfaces.messages.ledger.paths import BLOCK, RESULT, of
from app.turn.features import Feature

FORWARDED, EMULATED = Disposition.FORWARDED, Disposition.EMULATED
IGNORED, REFUSED = Disposition.IGNORED, Disposition.REFUSED

BLOCK_TAGS: dict[str, tuple[str, str | None]] = {
    "messages[]": ("role", None),
    BLOCK: ("type", None),
    "messages[].content[].source": ("type", None),
    "messages[].content[].source.content[]": ("type", None),
    "messages[].content[].source.content[].source": ("type", None),
    "messages[].content[].content[]": ("type", None),
    "messages[].content[].content[].source": ("type", None),
    "messages[].content[].content[].source.content[]": ("type", None),
    "messages[].content[].content[].source.content[].source": ("type", None),
    "messages[].content[].tool": ("type", None),
    "messages[].content[].tool.definition": ("type", "custom"),
}

_CACHE_SAMPLES = ({"type": "ephemeral"}, {"type": "ephemeral", "ttl": "1h"})
_CACHE_REASON = "a cache breakpoint; where an upstream caches is its own affair"

_MESSAGES = [
    Parameter(
        "messages",
        FORWARDED,
        "the history; consecutive turns of one role are joined",
        rule=rules.messages,
        samples=([{"role": "user", "content": "a"}], [{"role": "user", "content": "b"}]),
        wire="messages[].text",
    ),
    Parameter("messages[].role=user", FORWARDED, "what the caller says", wire="messages[].source"),
    Parameter(
        "messages[].role=assistant",
        FORWARDED,
        "what the model said; as the last message it is a prefill, which is sent as it is and said to be emulated",
        wire="messages[].source",
    ),
    Parameter(
        "messages[].role=system",
        FORWARDED,
        "system text before the first user turn; later a user message that begins [system], emulated",
        rule=rules.system_message,
        samples=("system",),
        wire="system_prompt",
    ),
    Parameter(
        "messages[].content",
        FORWARDED,
        "a string, or blocks",
        samples=("a", "b"),
        wire="messages[].text",
    ),
    Parameter(
        "messages[].output_config",
        IGNORED,
        "effort from here on is a preference that the upstream has no field for",
        neutral=({},),
        samples=({"effort": "low"}, {"effort": "high"}),
    ),
    Parameter(
        "messages[].clear_at",
        IGNORED,
        "when a system message may be forgotten; the whole history is always sent",
        neutral=("never",),
        samples=("next_user_message",),
    ),
    Parameter(f"{BLOCK}.cache_control", IGNORED, _CACHE_REASON, samples=_CACHE_SAMPLES),
    *(
        Parameter(f"{BLOCK}.cache_control.{key}", IGNORED, "part of the breakpoint", silent=True)
        for key in ("type", "ttl", "scope")
    ),
]


def _text_rows(block: str, kind: str) -> list[Parameter]:
    """Rows of text blocks at ``block``; ``kind`` is the same place with ``[type=text]``."""
    return [
        Parameter(f"{block}.type=text", FORWARDED, "text", wire="messages[].text"),
        Parameter(f"{kind}.text", FORWARDED, "its text", samples=("a", "b"), wire="messages[].text"),
        Parameter(
            f"{kind}.citations",
            IGNORED,
            "where the text was cited from; the upstream carries no citations",
            neutral=([],),
            samples=([{"type": "char_location"}], [{"type": "page_location"}]),
        ),
    ]


def _image_rows(block: str, kind: str) -> list[Parameter]:
    """Rows of image blocks at ``block``; ``kind`` is the same place with ``[type=image]``."""
    return [
        Parameter(
            f"{block}.type=image",
            FORWARDED,
            "an image in base64",
            feature=Feature.IMAGES,
            without=REFUSED,
            samples=("image",),
            wire="messages[].images",
        ),
        Parameter(f"{kind}.source", FORWARDED, "where the image is", wire="messages[].images"),
        Parameter(f"{kind}.source.type=base64", FORWARDED, "in the request", wire="messages[].images"),
        Parameter(
            f"{kind}.source.data",
            FORWARDED,
            "the image as base64 text, passed as it stands",
            samples=("iVBORw0KGgo=", "iVBORw0KGgoA"),
            wire="messages[].images[].base64_data",
        ),
        Parameter(
            f"{kind}.source.media_type",
            FORWARDED,
            "its MIME type",
            samples=("image/png", "image/jpeg"),
            wire="messages[].images[].mime_type",
        ),
        Parameter(f"{kind}.source.type=url", REFUSED, "remote URLs are not fetched", samples=("url",)),
        Parameter(f"{kind}.source.url", REFUSED, "part of the source", silent=True),
        Parameter(
            f"{kind}.source.type=file", REFUSED, "names a file that the vendor holds", samples=("file",)
        ),
        Parameter(f"{kind}.source.file_id", REFUSED, "part of the source", silent=True),
        Parameter(
            f"{kind}.transformations",
            IGNORED,
            "images are passed as they are",
            samples=({"oversized_image": "downsize"}, {"oversized_image": "error"}),
        ),
    ]


def _document_rows(block: str, kind: str) -> list[Parameter]:
    """Rows of document blocks at ``block``; ``kind`` is the same place with ``[type=document]``."""
    inner = f"{kind}.source.content[]"
    return [
        Parameter(
            f"{block}.type=document",
            EMULATED,
            "its title, context and text are put into the message; a document without text is refused",
            samples=("document",),
            wire="messages[].text",
        ),
        *(
            Parameter(
                f"{kind}.{key}",
                FORWARDED,
                f"the {key} goes before the text",
                samples=("a", "b"),
                wire="messages[].text",
            )
            for key in ("title", "context")
        ),
        Parameter(f"{kind}.source", FORWARDED, "where the text is", wire="messages[].text"),
        Parameter(f"{kind}.source.type=text", FORWARDED, "in the request", wire="messages[].text"),
        Parameter(f"{kind}.source.data", FORWARDED, "its text", samples=("a", "b"), wire="messages[].text"),
        Parameter(
            f"{kind}.source.media_type", EMULATED, "plain text is text", exact=True, samples=("text/plain",)
        ),
        Parameter(f"{kind}.source.type=content", FORWARDED, "text and images", wire="messages[].text"),
        Parameter(
            f"{kind}.source.content",
            FORWARDED,
            "a string, or blocks",
            samples=("a", "b"),
            wire="messages[].text",
        ),
        Parameter(f"{kind}.source.type=base64", REFUSED, "no upstream reads PDF", samples=("base64",)),
        Parameter(f"{kind}.source.type=url", REFUSED, "remote URLs are not fetched", samples=("url",)),
        Parameter(f"{kind}.source.url", REFUSED, "part of the source", silent=True),
        Parameter(
            f"{kind}.source.type=file", REFUSED, "names a file that the vendor holds", samples=("file",)
        ),
        Parameter(f"{kind}.source.file_id", REFUSED, "part of the source", silent=True),
        *_text_rows(inner, inner.removesuffix("[]") + "[type=text]"),
        *_image_rows(inner, inner.removesuffix("[]") + "[type=image]"),
        Parameter(f"{inner}.cache_control", IGNORED, _CACHE_REASON, samples=_CACHE_SAMPLES),
        *_citation_rows(kind),
    ]


def _citation_rows(kind: str) -> list[Parameter]:
    return [
        Parameter(f"{kind}.citations", REFUSED, "see enabled", silent=True),
        Parameter(
            f"{kind}.citations.enabled",
            REFUSED,
            "the answer would have to cite; the upstream cannot",
            neutral=(False,),
            samples=(True, False),
        ),
    ]


def _search_result_rows(block: str, kind: str) -> list[Parameter]:
    """Rows of search results that the caller found itself."""
    return [
        Parameter(
            f"{block}.type=search_result",
            EMULATED,
            "its title, source and text are put into the message",
            samples=("search_result",),
            wire="messages[].text",
        ),
        *(
            Parameter(f"{kind}.{key}", FORWARDED, f"the {key}", samples=("a", "b"), wire="messages[].text")
            for key in ("title", "source", "content")
        ),
        *_citation_rows(kind),
    ]


_CALLS = [
    Parameter(
        f"{BLOCK}.type=tool_use", FORWARDED, "a call that the model made", wire="messages[].tool_calls"
    ),
    Parameter(
        of("tool_use", "id"),
        FORWARDED,
        "pairs the call with its result",
        samples=("a", "b"),
        wire="messages[].tool_calls[].id",
    ),
    Parameter(
        of("tool_use", "name"), FORWARDED, "the tool", samples=("f", "g"), wire="messages[].tool_calls[].name"
    ),
    Parameter(
        of("tool_use", "input"),
        FORWARDED,
        "the arguments, carried whole",
        samples=({"x": "1"}, {"x": "2"}),
        wire="messages[].tool_calls[].arguments_json",
    ),
    Parameter(
        of("tool_use", "caller"),
        IGNORED,
        "who made the call; to the upstream it was the model",
        neutral=({"type": "direct"},),
        samples=({"type": "code_execution_20250825", "tool_id": "a"}, {"type": "code_execution_20260120"}),
    ),
    Parameter(of("tool_use", "toolset_name"), IGNORED, "toolsets are hosted", samples=("a", "b")),
    Parameter(f"{BLOCK}.type=tool_result", FORWARDED, "what a call returned", wire="messages[].tool_call_id"),
    Parameter(
        of("tool_result", "tool_use_id"),
        FORWARDED,
        "the call it belongs to",
        samples=("a", "b"),
        wire="messages[].tool_call_id",
    ),
    Parameter(
        of("tool_result", "content"),
        FORWARDED,
        "a string, or blocks",
        samples=("1", "2"),
        wire="messages[].text",
    ),
    Parameter(
        of("tool_result", "is_error"),
        FORWARDED,
        "marked by a first line [error] where the upstream has no flag for it",
        feature=Feature.TOOL_ERROR_FLAG,
        without=EMULATED,
        neutral=(False,),
        samples=(True, False),
        wire="messages[].text",
    ),
    Parameter(of("tool_result", "toolset_name"), IGNORED, "toolsets are hosted", samples=("a", "b")),
    *_text_rows(RESULT, RESULT.removesuffix("[]") + "[type=text]"),
    *_image_rows(RESULT, RESULT.removesuffix("[]") + "[type=image]"),
    *_document_rows(RESULT, RESULT.removesuffix("[]") + "[type=document]"),
    *_search_result_rows(RESULT, RESULT.removesuffix("[]") + "[type=search_result]"),
    Parameter(
        f"{RESULT}.type=tool_reference",
        EMULATED,
        "a line of text that names the tool; every tool is loaded already",
        samples=("tool_reference",),
        wire="messages[].text",
    ),
    Parameter(
        RESULT.removesuffix("[]") + "[type=tool_reference].tool_name",
        FORWARDED,
        "its name",
        samples=("f", "g"),
        wire="messages[].text",
    ),
    Parameter(
        f"{RESULT}.type=browser_state", REFUSED, "needs a model trained for it", samples=("browser_state",)
    ),
    *(
        Parameter(
            RESULT.removesuffix("[]") + f"[type=browser_state].{key}",
            REFUSED,
            "part of browser_state",
            silent=True,
        )
        for key in ("tabs", "state_changes")
    ),
    Parameter(f"{RESULT}.cache_control", IGNORED, _CACHE_REASON, samples=_CACHE_SAMPLES),
]

BLOCK_ROWS = [
    *_MESSAGES,
    *_text_rows(BLOCK, "messages[].content[type=text]"),
    *_image_rows(BLOCK, "messages[].content[type=image]"),
    *_document_rows(BLOCK, "messages[].content[type=document]"),
    *_search_result_rows(BLOCK, "messages[].content[type=search_result]"),
    *_CALLS,
]
