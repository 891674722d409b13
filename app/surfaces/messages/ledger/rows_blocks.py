"""Rows of roles and content blocks."""

from __future__ import annotations

from app.ledger import Disposition, Parameter
from app.surfaces.messages.ledger import rules
from app.surfaces.messages.ledger.paths import BLOCK, CACHE_REASON, CACHE_SAMPLES, RESULT, of
from app.turn.features import Feature

FORWARDED, EMULATED = Disposition.FORWARDED, Disposition.EMULATED
IGNORED, REFUSED = Disposition.IGNORED, Disposition.REFUSED

BLOCK_TAGS: dict[str, tuple[str, str | None]] = {
    "messages[]": ("role", None),
    BLOCK: ("type", None),
    "messages[].content[].source": ("type", None),
    "messages[].content[].source.content[]": ("type", None),
    "messages[].content[].content[]": ("type", None),
    "messages[].content[].tool": ("type", None),
    "messages[].content[].tool_changes[]": ("type", None),
    "messages[].content[].tool.definition": ("type", "custom"),
}

_MESSAGES = [
    Parameter(
        "messages",
        FORWARDED,
        "the history; consecutive turns of one role are joined",
        rule=rules.messages,
        samples=([{"role": "user", "content": "a"}], [{"role": "user", "content": "b"}]),
        wire="messages[].text",
    ),
    Parameter(
        "messages[].role=user", FORWARDED, "what the caller says", samples=("user",), wire="messages[].source"
    ),
    Parameter(
        "messages[].role=assistant",
        FORWARDED,
        "what the model said; as the last message it is a prefill, which is sent as it is and said to be emulated",
        samples=("assistant",),
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
    Parameter(f"{BLOCK}.cache_control", IGNORED, CACHE_REASON, samples=CACHE_SAMPLES),
    *(
        Parameter(f"{BLOCK}.cache_control.{key}", IGNORED, "part of the breakpoint", silent=True)
        for key in ("type", "ttl", "scope")
    ),
]


def _text_rows(block: str, kind: str) -> list[Parameter]:
    """Rows of text blocks at ``block``; ``kind`` is the same place with ``[type=text]``."""
    return [
        Parameter(f"{block}.type=text", FORWARDED, "text", samples=("text",), wire="messages[].text"),
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
        Parameter(
            f"{kind}.transformations",
            IGNORED,
            "images are passed as they are",
            samples=({"oversized_image": "downsize"}, {"oversized_image": "error"}),
        ),
    ]


def _remote_rows(source: str) -> list[Parameter]:
    """Rows of the kinds of a source that is not in the request."""
    return [
        Parameter(f"{source}.type=url", REFUSED, "remote URLs are not fetched", samples=("url",)),
        Parameter(f"{source}.url", REFUSED, "part of the source", silent=True),
        Parameter(f"{source}.type=file", REFUSED, "names a file that the vendor holds", samples=("file",)),
        Parameter(f"{source}.file_id", REFUSED, "part of the source", silent=True),
    ]


_IMAGE_SOURCE = of("image", "source")
_IMAGE_SOURCE_ROWS = [
    Parameter(_IMAGE_SOURCE, FORWARDED, "where the image is", silent=True, wire="messages[].images"),
    Parameter(
        f"{_IMAGE_SOURCE}.type=base64",
        FORWARDED,
        "in the request",
        samples=("base64",),
        wire="messages[].images",
    ),
    Parameter(
        f"{_IMAGE_SOURCE}.data",
        FORWARDED,
        "the image as base64 text, passed as it stands",
        samples=("iVBORw0KGgo=", "iVBORw0KGgoA"),
        wire="messages[].images[].base64_data",
    ),
    Parameter(
        f"{_IMAGE_SOURCE}.media_type",
        FORWARDED,
        "its MIME type",
        samples=("image/png", "image/jpeg"),
        wire="messages[].images[].mime_type",
    ),
    *_remote_rows(_IMAGE_SOURCE),
]


def _document_rows(block: str, kind: str) -> list[Parameter]:
    """Rows of document blocks at ``block``; ``kind`` is the same place with ``[type=document]``."""
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
        *_citation_rows(kind),
    ]


_DOCUMENT_SOURCE = of("document", "source")
_DOCUMENT_SOURCE_ROWS = [
    Parameter(_DOCUMENT_SOURCE, FORWARDED, "where the text is", silent=True, wire="messages[].text"),
    Parameter(
        f"{_DOCUMENT_SOURCE}.type=text",
        FORWARDED,
        "in the request",
        samples=("text",),
        wire="messages[].text",
    ),
    Parameter(f"{_DOCUMENT_SOURCE}.data", FORWARDED, "its text", samples=("a", "b"), wire="messages[].text"),
    Parameter(f"{_DOCUMENT_SOURCE}.media_type", EMULATED, "plain text is text", silent=True),
    Parameter(
        f"{_DOCUMENT_SOURCE}.type=content",
        FORWARDED,
        "text and images",
        samples=("content",),
        wire="messages[].text",
    ),
    Parameter(
        f"{_DOCUMENT_SOURCE}.content",
        FORWARDED,
        "a string, or blocks",
        samples=("a", "b"),
        wire="messages[].text",
    ),
    Parameter(f"{_DOCUMENT_SOURCE}.type=base64", REFUSED, "no upstream reads PDF", samples=("base64",)),
    *_remote_rows(_DOCUMENT_SOURCE),
    *_text_rows(f"{_DOCUMENT_SOURCE}.content[]", f"{_DOCUMENT_SOURCE}.content[type=text]"),
    *_image_rows(f"{_DOCUMENT_SOURCE}.content[]", f"{_DOCUMENT_SOURCE}.content[type=image]"),
    Parameter(f"{_DOCUMENT_SOURCE}.content[].cache_control", IGNORED, CACHE_REASON, samples=CACHE_SAMPLES),
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
            for key in ("title", "source")
        ),
        Parameter(f"{kind}.content", FORWARDED, "its text blocks", silent=True, wire="messages[].text"),
        *_citation_rows(kind),
    ]


_SEARCH_TEXT = f"{of('search_result', 'content')}[]"
_SEARCH_TEXT_ROWS = [
    *_text_rows(_SEARCH_TEXT, f"{of('search_result', 'content')}[type=text]"),
    Parameter(f"{_SEARCH_TEXT}.cache_control", IGNORED, CACHE_REASON, samples=CACHE_SAMPLES),
]


_CALLS = [
    Parameter(
        f"{BLOCK}.type=tool_use",
        FORWARDED,
        "a call that the model made",
        samples=("tool_use",),
        wire="messages[].tool_calls",
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
    Parameter(
        f"{BLOCK}.type=tool_result",
        FORWARDED,
        "what a call returned",
        samples=("tool_result",),
        wire="messages[].tool_call_id",
    ),
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
    Parameter(f"{RESULT}.cache_control", IGNORED, CACHE_REASON, samples=CACHE_SAMPLES),
]

_IN_RESULT = RESULT.removesuffix("[]")
_IN_A_MESSAGE = "messages[role=user].content"
BLOCK_SAME = {
    f"{_IN_RESULT}[type=image].source": f"{_IN_A_MESSAGE}[type=image].source",
    f"{_IN_RESULT}[type=document].source": f"{_IN_A_MESSAGE}[type=document].source",
    f"{_IN_RESULT}[type=search_result].content[]": f"{_IN_A_MESSAGE}[type=search_result].content[]",
    f"{_DOCUMENT_SOURCE}.content[type=image].source": f"{_IN_A_MESSAGE}[type=image].source",
}
"""Places that hold what another place holds."""

BLOCK_ROWS = [
    *_MESSAGES,
    *_text_rows(BLOCK, "messages[].content[type=text]"),
    *_image_rows(BLOCK, "messages[].content[type=image]"),
    *_IMAGE_SOURCE_ROWS,
    *_document_rows(BLOCK, "messages[].content[type=document]"),
    *_DOCUMENT_SOURCE_ROWS,
    *_search_result_rows(BLOCK, "messages[].content[type=search_result]"),
    *_SEARCH_TEXT_ROWS,
    *_CALLS,
]
