"""What most tests share: a fake upstream and apps that talk to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from app import create_app
from app.settings import Settings, load
from fake_upstream import FakeUpstream
from tests.support.servers import Gunicorn, gunicorn, in_thread

SESSION_ID = "11111111-2222-4333-8444-555555555555"


@pytest.fixture(scope="session")
def shared_fake() -> Iterator[FakeUpstream]:
    """One fake upstream for all tests of this process."""
    with FakeUpstream() as fake:
        yield fake


@pytest.fixture
def fake(shared_fake: FakeUpstream) -> FakeUpstream:
    """The fake upstream with no captures and no scenarios queued."""
    shared_fake.clear()
    return shared_fake


@pytest.fixture
def make_settings(fake: FakeUpstream, tmp_path: Path) -> Callable[..., Settings]:
    """Settings from switches by their environment names, pointing at the fake upstream."""

    def make(**switches: str) -> Settings:
        return load(
            {
                "DEVIN_CONNECT_BASE_URL": fake.url,
                "CANDOR_STATE_DIR": str(tmp_path / "var"),
                "CANDOR_LOG_LEVEL": "WARNING",
                **switches,
            }
        )

    return make


@pytest.fixture
def make_app(make_settings: Callable[..., Settings]) -> Callable[..., Flask]:
    """An app with the given switches; its turns all have one known session id."""

    def make(**switches: str) -> Flask:
        return create_app(make_settings(**switches), new_session_id=lambda: SESSION_ID)

    return make


@pytest.fixture
def app(make_app: Callable[..., Flask]) -> Flask:
    """An app with default switches."""
    return make_app()


@pytest.fixture(scope="session")
def standing(shared_fake: FakeUpstream, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Flask]:
    """The app with the given switches, made once and shared; its turns all have one known session id.

    Not for turns that change a token's state, nor for counting.
    """
    made: dict[tuple[tuple[str, str], ...], Flask] = {}

    def app_with(**switches: str) -> Flask:
        key = tuple(sorted(switches.items()))
        if key not in made:
            settings = load(
                {
                    "DEVIN_CONNECT_BASE_URL": shared_fake.url,
                    "CANDOR_STATE_DIR": str(tmp_path_factory.mktemp("standing")),
                    "CANDOR_LOG_LEVEL": "ERROR",
                    **switches,
                }
            )
            made[key] = create_app(settings, new_session_id=lambda: SESSION_ID)
        return made[key]

    return app_with


@pytest.fixture
def serve(make_app: Callable[..., Flask]) -> Iterator[Callable[..., str]]:
    """Serve an app with the given switches by threads on loopback; the value is its URL."""
    with ExitStack() as stack:
        yield lambda **switches: stack.enter_context(in_thread(make_app(**switches)))


@pytest.fixture
def start_gunicorn(fake: FakeUpstream, tmp_path: Path) -> Iterator[Callable[..., Gunicorn]]:
    """Start Candor under gunicorn with the given switches, two workers unless told otherwise."""
    with ExitStack() as stack:

        def start(**switches: Any) -> Gunicorn:
            return stack.enter_context(gunicorn(tmp_path, fake.url, **switches))

        yield start
