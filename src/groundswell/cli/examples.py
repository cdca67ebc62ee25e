"""`groundswell example`: the examples of the repository, which are installed with Groundswell."""

from __future__ import annotations

import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from groundswell.errors import InputError, did_you_mean, quoted
from groundswell.formats.atomic import disk_errors, exists, temporary_path

_INSTALLED = Path(__file__).parents[1] / "examples"  # in a release; see pyproject.toml
_IN_CLONE = Path(__file__).parents[3] / "examples"
_ELSEWHERE = {"gallery", "plugin_solver"}  # programs of the documentation; `groundswell new plugin`
_RESULTS = shutil.ignore_patterns("results*", "__pycache__", "*.part", "*.zarr*")


def folder_of(name: str) -> Path:
    """The folder of an example, as installed or in a clone."""
    return (_INSTALLED if _INSTALLED.is_dir() else _IN_CLONE) / name


def names() -> list[str]:
    """The names of all examples."""
    folders = (path for path in folder_of("").iterdir() if path.is_dir())
    return sorted({path.name for path in folders if path.name.isidentifier()} - _ELSEWHERE)


def titles(folder: Path) -> Iterator[tuple[str, str]]:
    """The input files of an example, each with its title."""
    for path in sorted(folder.glob("*.toml")):
        yield path.name, tomllib.loads(path.read_text(encoding="utf-8")).get("title", "")


def copy(name: str, target: Path) -> None:
    """Copy an example to a new folder.

    Raises:
        InputError: there is no such example, or the folder exists or cannot be written.
    """
    if name not in names():
        raise InputError(
            f"no example is called {quoted(name)}{did_you_mean(name, names())}; `groundswell "
            "example` lists them all"
        )
    if exists(target):
        raise InputError(f"{target} exists already; give another folder, or delete it")
    part = temporary_path(target)
    with disk_errors(target):
        shutil.rmtree(part, ignore_errors=True)
        shutil.copytree(folder_of(name), part, ignore=_RESULTS)
        part.rename(target)


def _listing() -> Iterator[str]:
    for name in names():
        yield name
        yield from (f"  {file:20} {title}" for file, title in titles(folder_of(name)))


def _complete(incomplete: str) -> list[str]:
    return [name for name in names() if name.startswith(incomplete)]


def example(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME",
            help="The example; without it, all are listed.",
            autocompletion=_complete,
            show_default=False,
        ),
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Argument(metavar="FOLDER", help="Folder to write.", show_default="its name"),
    ] = None,
) -> None:
    """Copy an example, with its data, to a folder of your own, or list all examples.

    For example

        groundswell example

        groundswell example la_habra my_copy
    """
    if name is None:
        typer.echo("\n".join(_listing()))
        return
    target = folder or Path(name)
    copy(name, target)
    case = target / "case.toml"
    typer.echo(f"wrote {target}/{f'; next: groundswell run {case}' if case.exists() else ''}")
