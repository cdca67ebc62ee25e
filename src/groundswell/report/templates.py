"""Templates of self-contained HTML pages in one style."""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, select_autoescape


def environment(*folders: Path) -> Environment:
    """An environment with the templates of some folders, which can include `style.css`."""
    return Environment(
        loader=FileSystemLoader([*folders, Path(__file__).parent]),
        autoescape=select_autoescape(["html"]),
        trim_blocks=True,
        lstrip_blocks=True,
    )
