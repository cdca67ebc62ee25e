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
    "page", ["README.md", "docs/getting-started.md", "docs/decisions/same-bits.md"]
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
