"""Rows of contents, of every kind of part, and of the system instruction."""

from __future__ import annotations

from app.ledger import Disposition, Parameter
from app.surfaces.generate_content.ledger import rules
from app.turn.features import Feature

FORWARDED, EMULATED = Disposition.FORWARDED, Disposition.EMULATED
IGNORED, REFUSED = Disposition.IGNORED, Disposition.REFUSED

PNG = "iVBORw0KGgo="
PART = "contents[].parts[]"
CALL = f"{PART}.functionCall"
RESPONSE = f"{PART}.functionResponse"

_CONTENTS = [
    Parameter(
        "contents",
        FORWARDED,
        "the conversation; calls and results in it are refused where the upstream has no tools",
        rule=rules.contents,
        wire="messages[]",
        samples=([{"parts": [{"text": "one"}]}], [{"parts": [{"text": "two"}]}]),
    ),
    Parameter(
        "contents[].role=user",
        FORWARDED,
        "the caller's turn; an absent role means it too",
        wire="messages[].source",
        samples=({"role": "user", "parts": [{"text": "one"}]}, {"parts": [{"text": "two"}]}),
    ),
    Parameter(
        "contents[].role=model",
        FORWARDED,
        "the model's turn",
        wire="messages[].source",
        samples=(
            {"role": "model", "parts": [{"text": "one"}]},
            {"role": "model", "parts": [{"text": "two"}]},
        ),
    ),
    Parameter(
        "contents[].role=function",
        FORWARDED,
        "older spelling of the turn with tool results",
        wire="messages[].source",
        samples=(
            {"role": "function", "parts": [{"functionResponse": {"name": "f", "response": {"output": "1"}}}]},
            {"role": "function", "parts": [{"functionResponse": {"name": "f", "response": {"output": "2"}}}]},
        ),
    ),
    Parameter(
        "contents[].parts",
        FORWARDED,
        "what a turn is made of; empty text makes no message",
        wire="messages[].text",
        samples=([{"text": "one"}], [{"text": "two"}]),
    ),
]

_PARTS = [
    Parameter(f"{PART}.text", FORWARDED, "text, as it is", wire="messages[].text", samples=("one", "two")),
    Parameter(
        f"{PART}.inlineData",
        FORWARDED,
        "images are sent as they are, text/* data is inlined as text, other data has no way upstream",
        feature=Feature.IMAGES,
        without=REFUSED,
        rule=rules.inline_data,
        wire="messages[].images",
        samples=({"mimeType": "image/png", "data": PNG}, {"mimeType": "image/jpeg", "data": "/9j/4A=="}),
    ),
    Parameter(
        f"{PART}.inlineData.data",
        FORWARDED,
        "base64, in the standard alphabet or the URL-safe one",
        wire="messages[].images[].base64_data",
        samples=(PNG, "/9j/4A=="),
    ),
    Parameter(
        f"{PART}.inlineData.mimeType",
        FORWARDED,
        "the media type of the data",
        wire="messages[].images[].mime_type",
        samples=("image/png", "image/jpeg"),
    ),
    Parameter(f"{PART}.inlineData.displayName", IGNORED, "images have no names upstream", samples=("a", "b")),
    Parameter(
        f"{PART}.fileData",
        REFUSED,
        "files by URI are not fetched; send the data inline",
        samples=(
            {"fileUri": "gs://b/a.png", "mimeType": "image/png"},
            {"fileUri": "https://example.com/a.png"},
        ),
    ),
    Parameter(
        f"{PART}.thought",
        FORWARDED,
        "a thought of an earlier turn: goes upstream again when a seal of ours vouches for it",
        feature=Feature.REASONING_HISTORY,
        neutral=(False,),
        rule=rules.thought,
        wire="messages[].reasoning",
        samples=(True,),
    ),
    Parameter(
        f"{PART}.thoughtSignature",
        EMULATED,
        "our own seal is verified; anyone else's is ignored, never an error; the clients' placeholder asks for nothing",
        exact=True,
        neutral=("",),
        rule=rules.thought_signature,
        samples=("U0lHLUE=", "U0lHLUI="),
    ),
]

_CALLS = [
    Parameter(
        CALL,
        FORWARDED,
        "a call that the model made earlier",
        wire="messages[].tool_calls",
        samples=({"name": "f", "args": {"x": "1"}}, {"name": "f", "args": {"x": "2"}}),
    ),
    Parameter(
        f"{CALL}.name",
        FORWARDED,
        "the function called",
        wire="messages[].tool_calls[].name",
        samples=("f", "g"),
    ),
    Parameter(
        f"{CALL}.args",
        FORWARDED,
        "the arguments, as JSON text",
        wire="messages[].tool_calls[].arguments_json",
        samples=({"x": "1"}, {"x": "2"}),
    ),
    Parameter(
        f"{CALL}.id",
        FORWARDED,
        "opaque; where it is absent one is made from place and name",
        wire="messages[].tool_calls[].id",
        samples=("call-1", "call-2"),
    ),
    Parameter(
        f"{CALL}.partialArgs",
        IGNORED,
        "arguments that stream in pieces; args has them whole",
        neutral=([],),
        samples=([{}],),
    ),
    Parameter(
        f"{CALL}.willContinue", IGNORED, "marks a piece of a streamed call", neutral=(False,), samples=(True,)
    ),
    Parameter(
        RESPONSE,
        FORWARDED,
        "what a call returned",
        wire="messages[].text",
        samples=({"name": "f", "response": {"output": "1"}}, {"name": "f", "response": {"output": "2"}}),
    ),
    Parameter(
        f"{RESPONSE}.name",
        FORWARDED,
        "with no id, pairs the response with the first unanswered call of that name",
        wire="messages[].tool_call_id",
        samples=("f", "g"),
    ),
    Parameter(
        f"{RESPONSE}.id",
        FORWARDED,
        "pairs the response with its call",
        wire="messages[].tool_call_id",
        samples=("call-1", "call-2"),
    ),
    Parameter(
        f"{RESPONSE}.response",
        FORWARDED,
        "data, verbatim as JSON text; nothing in it is read as a schema",
        wire="messages[].text",
        samples=({"output": "1"}, {"output": "2"}),
    ),
    Parameter(
        f"{RESPONSE}.parts",
        FORWARDED,
        "images that belong to the result",
        wire="messages[].images",
        samples=(
            [{"inlineData": {"mimeType": "image/png", "data": PNG}}],
            [{"inlineData": {"mimeType": "image/jpeg", "data": "/9j/4A=="}}],
        ),
    ),
    Parameter(
        f"{RESPONSE}.parts[].inlineData",
        FORWARDED,
        "as in a part of a content",
        feature=Feature.IMAGES,
        without=REFUSED,
        rule=rules.inline_data,
        wire="messages[].images",
        samples=({"mimeType": "image/png", "data": PNG}, {"mimeType": "image/jpeg", "data": "/9j/4A=="}),
    ),
    Parameter(
        f"{RESPONSE}.parts[].inlineData.data",
        FORWARDED,
        "as in a part of a content",
        wire="messages[].images[].base64_data",
        samples=(PNG, "/9j/4A=="),
    ),
    Parameter(
        f"{RESPONSE}.parts[].inlineData.mimeType",
        FORWARDED,
        "as in a part of a content",
        wire="messages[].images[].mime_type",
        samples=("image/png", "image/jpeg"),
    ),
    Parameter(
        f"{RESPONSE}.parts[].inlineData.displayName",
        IGNORED,
        "images have no names upstream",
        samples=("a", "b"),
    ),
    Parameter(
        f"{RESPONSE}.parts[].fileData",
        REFUSED,
        "files by URI are not fetched; send the data inline",
        samples=({"fileUri": "gs://b/a.png"}, {"fileUri": "https://example.com/a.png"}),
    ),
    Parameter(
        f"{RESPONSE}.scheduling",
        IGNORED,
        "when to react to a result of a call that did not block; calls here always block",
        neutral=("SCHEDULING_UNSPECIFIED",),
        samples=("SILENT", "WHEN_IDLE"),
    ),
    Parameter(
        f"{RESPONSE}.willContinue",
        IGNORED,
        "announces more results of the same call, which blocking calls do not have",
        neutral=(False,),
        samples=(True,),
    ),
]


def _history(kind: str, reason: str, samples: tuple[dict[str, object], ...], *fields: str) -> list[Parameter]:
    """A hosted tool's history, rendered as text, and the fields that the text is made of."""
    row = Parameter(f"{PART}.{kind}", EMULATED, reason, wire="messages[].text", samples=samples)
    below = [
        Parameter(f"{PART}.{kind}.{name}", EMULATED, f"part of the text that {kind} becomes", silent=True)
        for name in fields
    ]
    return [row, *below]


_HOSTED_HISTORY = [
    *_history(
        "executableCode",
        "code that the vendor's own tool ran: kept as text, so that the history stays readable",
        ({"language": "PYTHON", "code": "print(1)"}, {"language": "PYTHON", "code": "print(2)"}),
        "language",
        "code",
        "id",
    ),
    *_history(
        "codeExecutionResult",
        "what that code printed: kept as text",
        ({"outcome": "OUTCOME_OK", "output": "1"}, {"outcome": "OUTCOME_FAILED", "output": "2"}),
        "outcome",
        "output",
        "id",
    ),
    *_history(
        "toolCall",
        "a call of a tool that the vendor hosts: kept as text",
        ({"toolType": "GOOGLE_SEARCH_WEB", "args": {"q": "a"}}, {"toolType": "URL_CONTEXT", "args": {}}),
        "toolType",
        "args",
        "id",
    ),
    *_history(
        "toolResponse",
        "the result of a tool that the vendor hosts: kept as text",
        (
            {"toolType": "GOOGLE_SEARCH_WEB", "response": {"r": "a"}},
            {"toolType": "URL_CONTEXT", "response": {}},
        ),
        "toolType",
        "response",
        "id",
    ),
]

_LABELS: dict[str, tuple[str, tuple[object, ...]]] = {
    "videoMetadata": ("how to cut a video, which could not be sent anyway", ({"fps": 1}, {"fps": 2})),
    "audioTranscription": (
        "transcript of audio, which could not be sent anyway",
        ({"text": "a"}, {"text": "b"}),
    ),
    "speechMetadata": ("labels of spoken text; only the text is sent", ({"speaker": "a"}, {"speaker": "b"})),
    "audioMetadata": (
        "how to cut audio, which could not be sent anyway",
        ({"startOffset": "1s"}, {"startOffset": "2s"}),
    ),
    "documentMetadata": (
        "which pages of a document to read; documents could not be sent anyway",
        ({"startPage": 1}, {"startPage": 2}),
    ),
    "spreadsheetMetadata": (
        "which cells of a sheet to read; sheets could not be sent anyway",
        ({"sheetIndex": 1}, {"sheetIndex": 2}),
    ),
    "mediaResolution": (
        "how finely to look at an image is the upstream's choice",
        ({"level": "MEDIA_RESOLUTION_LOW"}, {"level": "MEDIA_RESOLUTION_HIGH"}),
    ),
    "mediaProcessing": ("how to process media is the upstream's choice", ("STATIC", "AGENTIC")),
    "partMetadata": ("the caller's own labels", ({"a": 1}, {"a": 2})),
}


_LABELS_OF_RESULTS = frozenset(
    {
        "videoMetadata",
        "audioMetadata",
        "documentMetadata",
        "spreadsheetMetadata",
        "mediaResolution",
        "mediaProcessing",
    }
)


def _labels(at: str, only: frozenset[str] | None = None) -> list[Parameter]:
    """Fields beside a part's data; none of them has a counterpart upstream."""
    return [
        Parameter(
            f"{at}.{name}",
            IGNORED,
            reason,
            samples=samples,
            neutral=("MEDIA_PROCESSING_UNSPECIFIED",) if name == "mediaProcessing" else ({},),
        )
        for name, (reason, samples) in _LABELS.items()
        if only is None or name in only
    ]


_SYSTEM = [
    Parameter(
        "systemInstruction",
        FORWARDED,
        "the system prompt: a string, a content of any role, or a bare part; several texts are joined",
        feature=Feature.SYSTEM_PROMPT,
        without=REFUSED,
        neutral=("", {}),
        wire="system_prompt",
        samples=({"parts": [{"text": "one"}]}, "two"),
    ),
    Parameter(
        "systemInstruction.parts",
        FORWARDED,
        "text parts; the system prompt has room for nothing else",
        wire="system_prompt",
        samples=([{"text": "one"}], [{"text": "two"}]),
    ),
    Parameter(
        "systemInstruction.parts[].text",
        FORWARDED,
        "text, as it is",
        wire="system_prompt",
        samples=("one", "two"),
    ),
    Parameter(
        "systemInstruction.text",
        FORWARDED,
        "a bare part in place of a content",
        wire="system_prompt",
        samples=("one", "two"),
    ),
    Parameter(
        "systemInstruction.role",
        EMULATED,
        "any role is taken: the text is the system prompt whatever it says",
        silent=True,
        samples=("user", "system"),
    ),
]

ROWS = [
    *_CONTENTS,
    *_PARTS,
    *_CALLS,
    *_HOSTED_HISTORY,
    *_labels(PART),
    *_labels(f"{RESPONSE}.parts[]", _LABELS_OF_RESULTS),
    *_SYSTEM,
]
