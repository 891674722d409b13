"""Rows of generationConfig and of the other fields at the top."""

from __future__ import annotations

from app.ledger import Disposition, Parameter
from app.surfaces.generate_content.ledger import rules
from app.turn.features import Feature

FORWARDED, EMULATED = Disposition.FORWARDED, Disposition.EMULATED
IGNORED, REFUSED = Disposition.IGNORED, Disposition.REFUSED

CONFIG = "generationConfig"
_SCHEMA = {"type": "OBJECT", "properties": {"ok": {"type": "BOOLEAN"}}}
_OTHER_SCHEMA = {"type": "OBJECT", "properties": {"n": {"type": "INTEGER"}}}

_SAMPLING = [
    Parameter(
        CONFIG, FORWARDED, "by field, below", samples=({"topK": 1}, {"topK": 2}), wire="completion.top_k"
    ),
    Parameter(
        f"{CONFIG}.temperature",
        FORWARDED,
        "from 0 to 2; exactly 0 may have to be sent as 0.001",
        feature=Feature.TEMPERATURE,
        rule=rules.temperature,
        wire="completion.temperature",
        samples=(0.25, 0.75),
    ),
    Parameter(
        f"{CONFIG}.topP",
        FORWARDED,
        "from 0 to 1",
        feature=Feature.TOP_P,
        wire="completion.top_p",
        samples=(0.25, 0.75),
    ),
    Parameter(
        f"{CONFIG}.topK",
        FORWARDED,
        "a whole number, also when it is written as 64.0",
        feature=Feature.TOP_K,
        wire="completion.top_k",
        samples=(3, 64.0),
    ),
    Parameter(
        f"{CONFIG}.maxOutputTokens",
        FORWARDED,
        "the cap on the answer's tokens",
        feature=Feature.MAX_OUTPUT_TOKENS,
        wire="completion.max_tokens",
        samples=(5, 9),
    ),
    Parameter(
        f"{CONFIG}.stopSequences",
        EMULATED,
        "at most five; the answer is cut where the first of them begins",
        exact=True,
        neutral=([],),
        samples=(["X"], ["Y"]),
    ),
    Parameter(
        f"{CONFIG}.candidateCount",
        REFUSED,
        "one candidate is generated, so the value can only be 1",
        neutral=(1,),
        samples=(2, 0),
    ),
    Parameter(
        f"{CONFIG}.presencePenalty",
        IGNORED,
        "a sampling preference without a counterpart upstream",
        neutral=(0,),
        samples=(0.5, -0.5),
    ),
    Parameter(
        f"{CONFIG}.frequencyPenalty",
        IGNORED,
        "a sampling preference without a counterpart upstream",
        neutral=(0,),
        samples=(0.5, -0.5),
    ),
    Parameter(f"{CONFIG}.seed", IGNORED, "best effort by the vendor's own definition", samples=(1, 0)),
    Parameter(
        f"{CONFIG}.responseLogprobs",
        REFUSED,
        "the upstream gives no log probabilities",
        neutral=(False,),
        samples=(True,),
    ),
    Parameter(
        f"{CONFIG}.logprobs", REFUSED, "the upstream gives no log probabilities", neutral=(0,), samples=(1, 5)
    ),
]

_THINKING = [
    Parameter(f"{CONFIG}.thinkingConfig", FORWARDED, "by field, below", samples=({"includeThoughts": True},)),
    Parameter(
        f"{CONFIG}.thinkingConfig.includeThoughts",
        EMULATED,
        "thoughts are handed out when this is true and not otherwise",
        exact=True,
        neutral=(False,),
        samples=(True,),
    ),
    Parameter(
        f"{CONFIG}.thinkingConfig.thinkingBudget",
        IGNORED,
        "how long to think is the upstream's choice",
        samples=(0, 8192),
    ),
    Parameter(
        f"{CONFIG}.thinkingConfig.thinkingLevel",
        IGNORED,
        "how hard to think is the upstream's choice",
        neutral=("THINKING_LEVEL_UNSPECIFIED",),
        samples=("LOW", "HIGH"),
    ),
]

_FORMAT = [
    Parameter(
        f"{CONFIG}.responseMimeType",
        FORWARDED,
        "JSON and enumerations are asked for in a line of system text; other types cannot be made",
        feature=Feature.STRUCTURED_OUTPUT,
        without=EMULATED,
        rule=rules.response_mime_type,
        wire="system_prompt",
        samples=("application/json",),
    ),
    Parameter(
        f"{CONFIG}.responseSchema",
        FORWARDED,
        "the schema is given in a line of system text; conformity is not guaranteed",
        feature=Feature.STRUCTURED_OUTPUT,
        without=EMULATED,
        rule=rules.response_schema,
        wire="system_prompt",
        samples=(_SCHEMA, _OTHER_SCHEMA),
    ),
    Parameter(
        f"{CONFIG}.responseJsonSchema",
        FORWARDED,
        "the schema is given in a line of system text; conformity is not guaranteed",
        feature=Feature.STRUCTURED_OUTPUT,
        without=EMULATED,
        rule=rules.response_schema,
        wire="system_prompt",
        samples=(_SCHEMA, _OTHER_SCHEMA),
    ),
    Parameter(
        f"{CONFIG}._responseJsonSchema",
        FORWARDED,
        "another spelling of responseJsonSchema",
        feature=Feature.STRUCTURED_OUTPUT,
        without=EMULATED,
        rule=rules.response_schema,
        wire="system_prompt",
        samples=(_SCHEMA, _OTHER_SCHEMA),
    ),
    Parameter(
        f"{CONFIG}.responseFormat",
        FORWARDED,
        "by kind of output, below",
        samples=([{"text": {"mimeType": "APPLICATION_JSON"}}],),
    ),
    Parameter(
        f"{CONFIG}.responseFormat[].text",
        FORWARDED,
        "by field, below",
        samples=({"mimeType": "APPLICATION_JSON"},),
    ),
    Parameter(
        f"{CONFIG}.responseFormat[].text.mimeType",
        FORWARDED,
        "as responseMimeType",
        feature=Feature.STRUCTURED_OUTPUT,
        without=EMULATED,
        rule=rules.response_mime_type,
        wire="system_prompt",
        samples=("application/json", "APPLICATION_JSON"),
    ),
    Parameter(
        f"{CONFIG}.responseFormat[].text.schema",
        FORWARDED,
        "as responseJsonSchema",
        feature=Feature.STRUCTURED_OUTPUT,
        without=EMULATED,
        rule=rules.response_schema,
        wire="system_prompt",
        samples=(_SCHEMA, _OTHER_SCHEMA),
    ),
    *(
        Parameter(
            f"{CONFIG}.responseFormat[].{kind}",
            REFUSED,
            f"the upstream answers in text, not with {kind} data",
            samples=({},),
        )
        for kind in ("audio", "image", "video")
    ),
    Parameter(
        f"{CONFIG}.responseModalities",
        REFUSED,
        "the upstream answers in text; nothing but TEXT can be asked for",
        neutral=([],),
        rule=rules.response_modalities,
        samples=(["IMAGE"], ["TEXT", "AUDIO"]),
    ),
]

_MEDIA = [
    Parameter(
        f"{CONFIG}.speechConfig",
        IGNORED,
        "says nothing without audio output, which is refused",
        neutral=({},),
        samples=({"languageCode": "en-US"}, {"languageCode": "de-DE"}),
    ),
    Parameter(
        f"{CONFIG}.imageConfig",
        IGNORED,
        "says nothing without image output, which is refused",
        neutral=({},),
        samples=({"aspectRatio": "1:1"}, {"aspectRatio": "16:9"}),
    ),
    Parameter(
        f"{CONFIG}.audioTranscriptionConfig",
        IGNORED,
        "says nothing without audio input, which is refused",
        neutral=({},),
        samples=({"languageCodes": ["en"]}, {"languageCodes": ["de"]}),
    ),
    Parameter(
        f"{CONFIG}.audioTimestamp",
        IGNORED,
        "says nothing without audio input, which is refused",
        neutral=(False,),
        samples=(True,),
    ),
    Parameter(
        f"{CONFIG}.mediaResolution",
        IGNORED,
        "how finely to look at an image is the upstream's choice",
        neutral=("MEDIA_RESOLUTION_UNSPECIFIED",),
        samples=("MEDIA_RESOLUTION_LOW", "MEDIA_RESOLUTION_HIGH"),
    ),
    Parameter(
        f"{CONFIG}.translationConfig",
        REFUSED,
        "translation is a service of the vendor's that the upstream does not have",
        neutral=({},),
        samples=({"targetLanguageCode": "de"}, {"targetLanguageCode": "fr"}),
    ),
    Parameter(
        f"{CONFIG}.enableAffectiveDialog",
        IGNORED,
        "a trait of live audio, which is not served",
        neutral=(False,),
        samples=(True,),
    ),
    Parameter(
        f"{CONFIG}.enableEnhancedCivicAnswers",
        IGNORED,
        "a service of the vendor's that adds to some answers",
        neutral=(False,),
        samples=(True,),
    ),
    *(
        Parameter(
            f"{CONFIG}.{name}",
            IGNORED,
            "which model runs is decided by the model named in the URL",
            neutral=({},),
            samples=samples,
        )
        for name, samples in {
            "routingConfig": ({"manualMode": {"modelName": "a"}}, {"manualMode": {"modelName": "b"}}),
            "modelConfig": (
                {"featureSelectionPreference": "BALANCED"},
                {"featureSelectionPreference": "PRIORITIZE_COST"},
            ),
            "modelSelectionConfig": (
                {"featureSelectionPreference": "BALANCED"},
                {"featureSelectionPreference": "PRIORITIZE_COST"},
            ),
        }.items()
    ),
]


def _whole(parent: Parameter, *fields: str) -> list[Parameter]:
    """A row and its fields, which share its fate and are told under its name."""
    below = [
        Parameter(f"{parent.path}{name}", parent.disposition, f"part of {parent.path}", silent=True)
        for name in fields
    ]
    return [parent, *below]


_TOP = [
    Parameter("model", EMULATED, "the URL names the model; a body that names another is a 400", silent=True),
    *_whole(
        Parameter(
            "safetySettings",
            IGNORED,
            "thresholds of the vendor's own filters, which the upstream does not have",
            neutral=([],),
            samples=(
                [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}],
                [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_ONLY_HIGH"}],
            ),
        ),
        "[].category",
        "[].method",
        "[].threshold",
    ),
    Parameter(
        "cachedContent",
        REFUSED,
        "it names a prefix of the prompt that is not here",
        neutral=("",),
        samples=("cachedContents/a", "cachedContents/b"),
    ),
    Parameter(
        "continuationToken",
        REFUSED,
        "it resumes a generation that is not here",
        neutral=("",),
        samples=("a", "b"),
    ),
    Parameter(
        "labels", IGNORED, "labels for the vendor's bill", neutral=({},), samples=({"a": "1"}, {"a": "2"})
    ),
    Parameter(
        "serviceTier",
        IGNORED,
        "there is one tier",
        neutral=("unspecified", "standard", "SERVICE_TIER_UNSPECIFIED"),
        samples=("flex", "priority"),
    ),
    Parameter(
        "store",
        IGNORED,
        "whether the vendor may log; Candor logs no bodies",
        neutral=(False,),
        samples=(True,),
    ),
    *_whole(
        Parameter(
            "modelArmorConfig",
            REFUSED,
            "screening by the vendor is a promise about safety that cannot be kept here",
            neutral=({},),
            samples=({"promptTemplateName": "a"}, {"responseTemplateName": "b"}),
        ),
        ".promptTemplateName",
        ".responseTemplateName",
    ),
    *_whole(
        Parameter(
            "outputConfig",
            REFUSED,
            "output is returned, not written to a bucket",
            neutral=({},),
            samples=({"outputUriPrefix": "gs://a"}, {"outputUriPrefix": "gs://b"}),
        ),
        ".outputUriPrefix",
    ),
    Parameter(
        "sessionId",
        EMULATED,
        "a client's own key of the conversation; the session upstream is derived from it where "
        "CANDOR_SESSION_FROM=caller",
        feature=Feature.SESSION_KEY,
        exact=True,
        samples=("a", "b"),
    ),
]

_QUERY = [
    Parameter(
        "query:alt", EMULATED, "sse streams as events; otherwise a stream is one JSON array", exact=True
    ),
    Parameter("query:key", EMULATED, "an API key; never logged", exact=True),
    Parameter("query:fields", IGNORED, "replies are sent whole"),
    Parameter("query:prettyPrint", IGNORED, "replies are compact JSON"),
    Parameter("query:quotaUser", IGNORED, "quotas are not kept per user"),
    Parameter("query:*", IGNORED, "no documented parameter of a query has that name"),
]

ROWS = [*_SAMPLING, *_THINKING, *_FORMAT, *_MEDIA, *_TOP, *_QUERY]
