"""What several pages and the commands say of the same thing is the same everywhere."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from groundswell import registry
from groundswell.cli.options import agreement

ROOT = Path(__file__).parents[3]


def text_of(page: str) -> str:
    """A page with single blanks."""
    return " ".join((ROOT / page).read_text(encoding="utf-8").split())


@pytest.mark.parametrize(
    "page",
    ["README.md", "docs/running.md", "docs/decisions/same-bits.md"],
)
def test_pages_say_like_help_what_is_bit_identical(page: str) -> None:
    assert set(registry.names()) == set(re.findall(r"`([a-z]+)`", agreement())) - {
        *("narrow", "lossy", "codec")
    }
    assert agreement() in text_of(page)


def test_the_promise_is_the_same_in_the_readme_the_site_and_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    promise = f"**{project['description']}.**"
    assert promise in text_of("README.md") and promise in text_of("docs/index.md")


def test_the_readme_begins_with_two_commands() -> None:
    head = (ROOT / "README.md").read_text().split("\n## ")[0]
    first, second = re.findall(r"```sh\n(.*?)```", head, re.DOTALL)
    assert "groundswell run examples/la_habra/case.toml" in first
    assert second == "./scripts/test\n"


def test_the_readme_lists_the_extras_for_users() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    table = text_of("README.md").split("| name | what it adds |")[1].split("Once Groundswell")[0]
    named = set(re.findall(r"`([a-z0-9]+)`", table)) - {"poisson"}
    assert named == set(project["optional-dependencies"]) - {"dev", "docs", "nvcomp", "parsl"}


EXTRAS = re.compile(
    r"""install\(['"](\w+)['"]\)|pip install.*?['"](?:\.|groundswell)\[([\w,]+)\]['"]"""
)


def test_every_extra_that_is_named_exists() -> None:
    """In pages, examples and messages."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    folders = [ROOT / "docs", ROOT / "examples", ROOT / "src"]
    suffixes = {".md", ".py", ".toml", ".ipynb", ".sh", ".def"}
    files = (path for folder in folders for path in folder.rglob("*") if path.suffix in suffixes)
    texts = [path.read_text(encoding="utf-8") for path in (*files, *ROOT.glob("*.md"))]
    found = [a or b for text in texts for a, b in EXTRAS.findall(text)]
    named = {extra for each in found for extra in each.split(",")}
    assert len(named) > 8 and named <= set(project["optional-dependencies"])


# Billions per second on an H200 in the README and the paper, and the figures of the pages in docs.
MEASURED = {
    "18.6 billion points/s": "18,592",
    "AWP-ODC 8.8": "8,784",
    "42.6 billion points/s": "42,600",
    "16.1 billion points/s": "16,130",
    "k-Wave 9.1": "9,100",
    "24.2 billion unknowns/s": "24.2 (",
    "hipBone 13.9": "13.9 (",
    "211 billion unknowns/s": "211, 96 %",
}


@pytest.mark.parametrize("short", MEASURED)
def test_speeds_of_the_readme_are_those_of_the_pages_with_measurements(short: str) -> None:
    measured = MEASURED[short]
    number = float(re.sub(r"[^\d.]", "", measured.split(", ")[0]))
    value = number / 1000 if number > 1000 else number
    pages = (ROOT / "docs").rglob("*.md")
    assert any(measured in text_of(str(page.relative_to(ROOT))) for page in pages)
    assert short in text_of("README.md")
    assert float(re.findall(r"[\d.]+", short)[0]) == pytest.approx(value, abs=0.051)


def test_speeds_of_the_paper_are_those_of_the_readme() -> None:
    text = text_of("paper/paper.md").split("# State of the field")[1].split("The discontinuous")[0]
    said = set(re.findall(r"([\d.]+\d)(?= billion| and Groundswell)", text))
    assert said == {"8.8", "18.6", "9.1", "16.1", "24.2", "13.9"}
