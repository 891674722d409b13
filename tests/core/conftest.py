"""Apps that several tests share: those that run no turn upstream and leave nothing behind."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from flask.testing import FlaskClient

from app import create_app
from app.settings import load


@pytest.fixture(scope="session")
def client_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., FlaskClient]:
    """A client of an app with these switches; the app is made once for all tests."""
    state = str(tmp_path_factory.mktemp("var"))
    clients: dict[tuple[tuple[str, str], ...], FlaskClient] = {}

    def client(**switches: str) -> FlaskClient:
        key = tuple(sorted(switches.items()))
        if key not in clients:
            environ = {"CANDOR_STATE_DIR": state, "CANDOR_LOG_LEVEL": "ERROR", **switches}
            clients[key] = create_app(load(environ)).test_client()
        return clients[key]

    return client
