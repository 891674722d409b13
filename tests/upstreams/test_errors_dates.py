"""A retry-after date that no calendar holds is no wait, and no defect of ours."""

from __future__ import annotations

import pytest

from app.upstreams.connect.errors import ErrorReader

NINES = "9" * 20


@pytest.mark.parametrize(
    "value", [f"Mon, 01 Jan {NINES} 00:00:00 GMT", f"Mon, 30 Nov 2026 12:00:00 +{NINES}"]
)
def test_a_date_beyond_all_numbers_is_no_wait(value: str) -> None:
    assert ErrorReader(()).http(429, {"retry-after": value}, b"").retry_after_s is None
