"""The stage of every scenario: Candor under gunicorn, fake-agent behind it, a recorder before it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from fake_upstream import FakeUpstream
from tests.clients.client import KEY
from tests.clients.sandbox import interfaces_up
from tests.clients.table import Table
from tests.clients.world import MODELS, World
from tests.support.servers import Gunicorn, gunicorn


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "quick: a plain turn and a task for each client")
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Table(), "clients-table")


@pytest.fixture(scope="session")
def shared_candor(shared_fake: FakeUpstream, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gunicorn]:
    """One Candor for all scenarios of this process that change no switch and leave no token the worse."""
    with gunicorn(
        tmp_path_factory.mktemp("candor"), shared_fake.url, CANDOR_API_KEYS=KEY, CANDOR_MODELS=str(MODELS)
    ) as running:
        yield running


@pytest.fixture
def make_world(
    request: pytest.FixtureRequest, fake: FakeUpstream, tmp_path: Path
) -> Iterator[Callable[[str], World]]:
    """A world before the Candor of that URL; what happens in it becomes a row of the table."""
    assert interfaces_up() == ["lo"], (
        "the clients run by `make clients`, in a namespace that has only loopback"
    )
    with ExitStack() as stack:

        def make(url: str) -> World:
            world = World(fake, url, tmp_path)
            stack.callback(world.close, request.node.name)
            stack.callback(lambda: request.node.user_properties.append(("row", world.row())))
            return world

        yield make


@pytest.fixture
def world(shared_candor: Gunicorn, make_world: Callable[[str], World]) -> World:
    """The world of a scenario that leaves no token of Candor's the worse."""
    return make_world(shared_candor.url)


@pytest.fixture
def fresh_world(
    fake: FakeUpstream, tmp_path: Path, make_world: Callable[[str], World]
) -> Iterator[Callable[..., World]]:
    """A world with a Candor of its own, with the given switches."""
    with ExitStack() as stack:

        def start(**switches: Any) -> World:
            folder = tmp_path / "candor"
            folder.mkdir()
            switches = {"CANDOR_API_KEYS": KEY, "CANDOR_MODELS": str(MODELS), **switches}
            return make_world(stack.enter_context(gunicorn(folder, fake.url, **switches)).url)

        yield start
