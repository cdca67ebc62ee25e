"""The page: HTML on its own, Markdown and JSON."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from PIL import Image
from reproduced_tides import TIDES, run

from groundswell.bench.tables import NOTE
from groundswell.reproduction.comparison import Run, compare
from groundswell.reproduction.pages import SMALL, Reproduction, write_pages

HEIGHTS = [{"port": "<Aber>", "height": 4.0, "share": 1.5}]


@pytest.fixture
def pages(tmp_path: Path) -> dict[str, str]:
    Image.new("RGB", (2, 2)).save(tmp_path / "tides_0.png")
    quick = run(heights=HEIGHTS, scale="quick", versions={"groundswell": "9.9"}, date="today")
    sections = [compare("tides", TIDES, [Run(quick)])]
    found = Reproduction(sections, {"tides": [(tmp_path / "tides_0.png", "Tides: Abacus")]})
    return {path.suffix: path.read_text() for path in write_pages(found, tmp_path)}


def test_html(pages: dict[str, str]) -> None:
    page = pages[".html"]
    assert "5 tables and figures: 1 measured, 4 not run here, 0 failed" in page
    assert "<td>&lt;Aber&gt;</td>" in page and "The sea | is <code>wet</code>." in page
    assert SMALL in page and "Abacus, small sizes" in page and "2 GB/s" in page
    assert "&gt; 100 %" in page and NOTE.replace(">", "&gt;") in page and "150 %" not in page
    assert "Figure 1 is a drawing." in page and "needs 2 GPUs" in page
    assert not re.findall(r'(?:src|href)="(?!data:|#)', page)  # it needs no other file


def test_markdown(pages: dict[str, str]) -> None:
    page = pages[".md"]
    assert "|  | published: height, m | Abacus, small sizes: height, m |" in page
    assert "| <Aber> |  | 4.0 | > 100 % |" in page and "![Tides: Abacus](tides_0.png)" in page
    tables = re.findall(r"(?:^\|.*\|\n)+", page, re.MULTILINE)
    for table in tables:
        assert len({line.count("|") for line in table.splitlines()}) == 1


def test_json(pages: dict[str, str]) -> None:
    found = json.loads(pages[".json"])
    assert found["summary"].startswith("5 tables and figures")
    assert [each["subject"] for each in found["documents"]] == ["tides"]


def test_nothing_of_small_sizes_without_them() -> None:
    assert SMALL not in Reproduction([compare("tides", TIDES, [Run(run())])]).about
