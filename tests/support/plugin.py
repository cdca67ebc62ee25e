"""The example of a solver in a package of its own, made available without installing it."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from groundswell import registry

PACKAGE = Path(__file__).parents[2] / "examples" / "plugin_solver"
NAME = "acoustics"


def write_metadata(folder: Path) -> list[Path]:
    """What an installer would write of its pyproject.toml; returns what to search for modules."""
    project = tomllib.loads((PACKAGE / "pyproject.toml").read_text())["project"]
    place = folder / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    place.mkdir()
    about = f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    (place / "METADATA").write_text(about)
    groups = project["entry-points"].items()
    lines = [line for group, points in groups for line in (f"[{group}]", *_entries(points))]
    (place / "entry_points.txt").write_text("\n".join(lines) + "\n")
    return [folder, PACKAGE]


def _entries(points: dict[str, str]) -> list[str]:
    return [f"{name} = {reference}" for name, reference in points.items()]


def python_path(folder: Path) -> str:
    """PYTHONPATH with Groundswell and the package in it."""
    paths = [str(PACKAGE.parents[1] / "src"), *map(str, write_metadata(folder))]
    return os.pathsep.join([*paths, *filter(None, [os.environ.get("PYTHONPATH")])])


@contextmanager
def available(folder: Path) -> Iterator[None]:
    """The registry of this process knows the solver within the block."""
    with pytest.MonkeyPatch.context() as patch:
        for path in write_metadata(folder):
            patch.syspath_prepend(path)
        forget()
        yield
    forget()


def forget() -> None:
    """Have the registry look for solvers again."""
    registry._entry_points.cache_clear()
    registry.find.cache_clear()
