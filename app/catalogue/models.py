"""The models file: which models there are, where each runs and what it can hold."""

from __future__ import annotations

import tomllib
from collections.abc import Collection
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from app.settings import Settings, SettingsError
from app.turn.faults import FaultKind, TurnFault, invalid

DEFAULT_FILE = Path(__file__).with_name("models.toml")
MOST_TOKENS = 1_000_000_000
"""More than any model holds, and a number that every reader of JSON can hold."""


@dataclass(frozen=True, slots=True)
class Model:
    """One model. A limit of None is unlimited."""

    id: str
    upstream: str
    selector: str = ""
    tier: str = "paid"
    aliases: tuple[str, ...] = ()
    context_tokens: int | None = None
    output_tokens: int | None = None
    owner: str = "candor"

    def check_output_limit(self, asked: int | None, path: str) -> None:
        """Raise a 400, in the wording of each vendor, when ``asked`` output tokens are more than the model has."""
        limit = self.output_tokens
        if asked is None or limit is None or asked <= limit:
            return
        raise TurnFault(
            FaultKind.INVALID_REQUEST,
            f"{asked} is too large: the model '{self.id}' supports at most {limit} output tokens",
            param=path,
            code="invalid_value",
            wording={
                "chat_completions": f"{path} is too large: {asked}. This model supports at most {limit} completion "
                f"tokens, whereas you provided {asked}.",
                "messages": f"{path}: {asked} > {limit}, which is the maximum allowed number of output tokens "
                f"for {self.id}",
            },
        )


class Catalogue:
    """All models, found by id or alias. ``forward_to`` takes unknown ids as they are to that upstream."""

    def __init__(self, models: list[Model], forward_to: str | None = None) -> None:
        self.models = models
        self._forward_to = forward_to
        self._by_name = {name: model for model in models for name in (model.id, *model.aliases)}

    def find(self, name: str) -> Model | None:
        """The model of that id or alias that the file lists."""
        return self._by_name.get(name)

    def resolve(self, name: str) -> Model:
        """The model to run. Raises a NOT_FOUND fault naming ``model``."""
        model = self.find(name)
        if model is not None:
            return model
        if self._forward_to is not None and name:
            return Model(name, self._forward_to, selector=name)
        if not name:
            raise invalid("the field is required", "model", code="missing_required_parameter")
        raise TurnFault(
            FaultKind.NOT_FOUND,
            f"the model '{name[:200]}' does not exist or is not served here",
            param="model",
            code="model_not_found",
        )


def load_catalogue(settings: Settings, upstreams: Collection[str]) -> Catalogue:
    """Read the models file. Raises SettingsError naming CANDOR_MODELS and what is wrong with it."""
    path = Path(settings.models) if settings.models else DEFAULT_FILE
    try:
        models = [_model(row, upstreams) for row in _tables(tomllib.loads(path.read_text("utf-8")))]
        _check_names(models)
    except OSError as error:
        raise SettingsError(f"CANDOR_MODELS={str(path)!r}: {error.strerror}") from None
    except RecursionError:
        raise SettingsError(f"CANDOR_MODELS={str(path)!r}: it is nested too deep to be read") from None
    except ValueError as error:
        raise SettingsError(f"CANDOR_MODELS={str(path)!r}: {error}") from None
    return Catalogue(models, "connect" if settings.unknown_models == "forward" else None)


def _tables(file: dict[str, Any]) -> list[dict[str, Any]]:
    tables = file.get("model")
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise ValueError("has no [[model]] table")
    return tables


def _model(row: dict[str, Any], upstreams: Collection[str]) -> Model:
    known = {item.name: item for item in fields(Model)}
    for key, value in row.items():
        wanted: type = {"aliases": list, "context_tokens": int, "output_tokens": int}.get(key, str)
        if key not in known:
            raise ValueError(f"unknown key '{key}' in [[model]]")
        if not isinstance(value, wanted) or isinstance(value, bool):
            raise ValueError(f"'{key}' of model '{row.get('id')}' has the wrong type")
        if isinstance(value, int) and value < 1:
            raise ValueError(f"'{key}' of model '{row.get('id')}' is not positive")
        if isinstance(value, int) and value > MOST_TOKENS:
            raise ValueError(f"'{key}' of model '{row.get('id')}' is above {MOST_TOKENS}")
        if isinstance(value, list) and not all(isinstance(alias, str) and alias for alias in value):
            raise ValueError(f"an alias of model '{row.get('id')}' is not a text")
    if not row.get("id"):
        raise ValueError("a [[model]] has no id")
    if row.get("upstream") not in upstreams:
        raise ValueError(f"model '{row['id']}' names no upstream of {', '.join(sorted(upstreams))}")
    if row.get("tier", "paid") not in ("free", "paid"):
        raise ValueError(f"the tier of model '{row['id']}' is neither free nor paid")
    return Model(
        **{**row, "selector": row.get("selector") or row["id"], "aliases": tuple(row.get("aliases", ()))}
    )


def _check_names(models: list[Model]) -> None:
    seen: set[str] = set()
    for model in models:
        for name in (model.id, *model.aliases):
            if name in seen:
                raise ValueError(f"the name '{name}' is given to two models")
            seen.add(name)
