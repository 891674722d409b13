"""Candor: an LLM proxy that never drops a request parameter in silence."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flask import Flask

    from app.settings import Settings


def create_app(settings: Settings | None = None, *, new_session_id: Callable[[], str] | None = None) -> Flask:
    """The WSGI app; ``settings`` default to the environment's. See ``app.factory.create_app``.

    The parts are imported only here, so that whoever needs one module of ``app`` does not load them all.
    """
    from app import factory

    return factory.create_app(settings, new_session_id=new_session_id)
