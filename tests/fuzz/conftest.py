"""One app for all examples of this process: fuzzing makes thousands of requests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from flask import Flask
from flask.testing import FlaskClient

from app import create_app
from app.settings import load
from fake_upstream import FakeUpstream
from tests.fuzz.stored import Stored


@pytest.fixture(scope="session")
def fuzz_fake() -> Iterator[FakeUpstream]:
    """A fake upstream of fuzzing's own."""
    with FakeUpstream() as fake:
        yield fake


@pytest.fixture(scope="session")
def fuzz_app(fuzz_fake: FakeUpstream, tmp_path_factory: pytest.TempPathFactory) -> Flask:
    """An app whose upstream waits for nobody long."""
    return create_app(
        load(
            {
                "DEVIN_CONNECT_BASE_URL": fuzz_fake.url,
                "DEVIN_CONNECT_TOOL_CHOICE": "1",
                "DEVIN_CONNECT_REASONING": "1",
                "CANDOR_STATE_DIR": str(tmp_path_factory.mktemp("fuzz")),
                "CANDOR_LOG_LEVEL": "ERROR",
                "CANDOR_FIRST_EVENT_TIMEOUT_S": "2",
                "CANDOR_IDLE_TIMEOUT_S": "2",
            }
        )
    )


@pytest.fixture
def fuzz_client(fuzz_app: Flask) -> FlaskClient:
    """A client of that app."""
    return fuzz_app.test_client()


@pytest.fixture(scope="session")
def stored(fuzz_app: Flask) -> Stored:
    """What that app keeps."""
    return Stored(fuzz_app)
