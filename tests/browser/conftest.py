"""A browser for the tests of pages; without one on the machine they are skipped, unless one is demanded."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.browser.browser import Page, chromium, open_page


@pytest.fixture(scope="session")
def browser() -> Iterator[Page]:
    """One browser for all tests of this folder. CANDOR_TEST_BROWSER=1 makes a missing one a failure."""
    program = chromium()
    if program is None:
        if os.environ.get("CANDOR_TEST_BROWSER") == "1":
            pytest.fail("there is no chromium on this machine")
        pytest.skip("there is no chromium on this machine")
    with open_page(program) as page:
        yield page
