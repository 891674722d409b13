"""Models and lists of models as each vendor's SDK wants them."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from typing import Any

from app.catalogue.models import Model
from app.catalogue.query import Query, unknown_cursor
from app.turn.faults import invalid

CREATED_S = 1_764_460_800
"""Unix time that every model gets as its creation time, as the models file tells none."""
CREATED_AT = "2025-11-30T00:00:00Z"
"""The same, in RFC 3339."""

ANTHROPIC_PAGE = 20
ANTHROPIC_PAGE_MAX = 1000
GEMINI_PAGE = 50
GEMINI_PAGE_MAX = 1000
GEMINI_METHODS = ("generateContent", "streamGenerateContent", "countTokens")
_LIFECYCLES = ("active", "deprecated", "retired")


def openai_model(model: Model, query: Query) -> dict[str, Any]:
    """OpenAI's ``Model``, which has no place for token limits."""
    return {"id": model.id, "object": "model", "created": CREATED_S, "owned_by": model.owner}


def openai_list(models: Sequence[Model], query: Query) -> dict[str, Any]:
    """All models: this list has no pages."""
    return {"object": "list", "data": [openai_model(model, query) for model in models]}


def anthropic_model(model: Model, query: Query) -> dict[str, Any]:
    """Anthropic's ``ModelInfo``; capabilities are unknown, not absent."""
    query.free("beta")
    return {
        "type": "model",
        "id": model.id,
        "display_name": model.id,
        "created_at": CREATED_AT,
        "lifecycle": "active",
        "deprecated_at": None,
        "retires_at": None,
        "line": None,
        "capabilities": None,
        "max_input_tokens": model.context_tokens,
        "max_tokens": model.output_tokens,
    }


def anthropic_list(models: Sequence[Model], query: Query) -> dict[str, Any]:
    """The page after ``after_id`` or before ``before_id``, else the first; ``has_more`` looks the same way."""
    limit = query.number("limit", low=1, high=ANTHROPIC_PAGE_MAX) or ANTHROPIC_PAGE
    after, before = query.text("after_id"), query.text("before_id")
    if after is not None and before is not None:
        raise invalid("cannot be given together with after_id", "before_id")
    shown = _in_lifecycle(models, query.texts("lifecycle", "lifecycle[]"))
    if before is not None:
        rest = shown[: _position(shown, before, "before_id")]
        page = rest[-limit:]
    else:
        rest = shown if after is None else shown[_position(shown, after, "after_id") + 1 :]
        page = rest[:limit]
    return {
        "data": [anthropic_model(model, query) for model in page],
        "has_more": len(rest) > len(page),
        "first_id": page[0].id if page else None,
        "last_id": page[-1].id if page else None,
    }


def _in_lifecycle(models: Sequence[Model], stages: list[str]) -> Sequence[Model]:
    """The models in any of ``stages``; all of Candor's are active."""
    for stage in stages:
        if stage not in _LIFECYCLES:
            known = ", ".join(f"'{name}'" for name in _LIFECYCLES)
            raise invalid(f"unknown value '{stage[:100]}'; supported values are: {known}", "lifecycle")
    return models if not stages or "active" in stages else ()


def _position(models: Sequence[Model], name: str, parameter: str) -> int:
    for position, model in enumerate(models):
        if name == model.id or name in model.aliases:
            return position
    raise unknown_cursor(parameter)


def gemini_model(model: Model, query: Query) -> dict[str, Any]:
    """Gemini's ``Model``; a limit that does not exist is absent."""
    query.free("alt", "json")
    shown: dict[str, Any] = {"name": f"models/{model.id}", "version": "1", "displayName": model.id}
    if model.context_tokens is not None:
        shown["inputTokenLimit"] = model.context_tokens
    if model.output_tokens is not None:
        shown["outputTokenLimit"] = model.output_tokens
    shown["supportedGenerationMethods"] = list(GEMINI_METHODS)
    return shown


def gemini_list(models: Sequence[Model], query: Query) -> dict[str, Any]:
    """The page that ``pageToken`` stands for, else the first; a page has at most 1000 models, as the vendor's."""
    asked = query.number("pageSize", "page_size", low=0) or GEMINI_PAGE
    token = query.text("pageToken", "page_token")
    start = _position(models, _read_token(token), "pageToken") if token else 0
    end = start + min(asked, GEMINI_PAGE_MAX)
    shown: dict[str, Any] = {"models": [gemini_model(model, query) for model in models[start:end]]}
    if end < len(models):
        shown["nextPageToken"] = base64.urlsafe_b64encode(models[end].id.encode()).decode()
    return shown


def _read_token(token: str) -> str:
    """The id of the model that the page begins with."""
    try:
        return base64.b64decode(token.encode(), altchars=b"-_", validate=True).decode()
    except (binascii.Error, UnicodeError):
        raise unknown_cursor("pageToken") from None
