"""docs/METRICS.md has every metric by its name, with its labels and its meaning, and no other."""

from __future__ import annotations

import re

from prometheus_client.metrics import MetricWrapperBase

from app.metrics import Metrics
from tests.support.servers import ROOT

PAGE = (ROOT / "docs" / "METRICS.md").read_text()


def rows() -> list[str]:
    """One line of the table for each metric of the registry."""
    wrappers = [value for value in vars(Metrics()).values() if isinstance(value, MetricWrapperBase)]
    return [row(wrapper) for wrapper in wrappers]


def row(wrapper: MetricWrapperBase) -> str:
    """Name as it is exposed, kind, labels and meaning."""
    (described,) = wrapper.describe()
    name = f"{described.name}_total" if described.type == "counter" else described.name
    labels = ", ".join(f"`{label}`" for label in wrapper._labelnames)
    return f"| `{name}` | {described.type} | {labels} | {described.documentation} |"


def test_every_metric_is_on_the_page() -> None:
    lines = PAGE.splitlines()
    assert [row for row in rows() if row not in lines] == []


def test_the_page_lists_no_metric_that_is_none() -> None:
    listed = re.findall(r"^\| `\w+` \| (?:counter|gauge|histogram) \|.*$", PAGE, re.MULTILINE)
    assert [line for line in listed if line not in rows()] == []


def test_the_rows_cover_the_whole_registry() -> None:
    assert len(rows()) == len(list(Metrics().registry.collect()))
