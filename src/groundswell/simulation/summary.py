"""`summary.json`: the case, device, throughput, versions and files of a run."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from groundswell import __version__
from groundswell.backends import Backend
from groundswell.errors import InputError
from groundswell.formats.atomic import exists
from groundswell.formats.text import read_json, write_json
from groundswell.simulation.solver import Solver

NAME = "summary.json"
LIBRARIES = (
    "numpy",
    "h5py",
    "xarray",
    "pydantic",
    "pint",
    "pyproj",
    "cupy-cuda12x",
    "cupy-cuda13x",
)


def throughput(solver: Solver, updates: int, seconds: float, bandwidth: float) -> dict[str, Any]:
    """Updates per second in the solver's unit, and the fraction of the measured bandwidth used."""
    rate = updates / seconds if seconds > 0 else 0.0
    return {
        "throughput": {"value": rate / 1e6, "unit": solver.unit},
        "bytes_per_update": solver.setup.bytes_per_update,
        "bandwidth": {
            "measured": bandwidth,
            "used": rate * solver.setup.bytes_per_update,
            "share": rate * solver.setup.bytes_per_update / bandwidth,
        },
    }


def versions(backend: Backend) -> dict[str, str]:
    """Versions of all software that may affect a result."""
    own = {"groundswell": __version__, "python": platform.python_version()}
    return own | library_versions() | backend.versions()


def library_versions(more: Iterable[str] = ()) -> dict[str, str]:
    """Versions of the installed libraries, among LIBRARIES and `more`."""
    found = {}
    for library in (*LIBRARIES, *more):
        with suppress(PackageNotFoundError):
            found[library] = version(library)
    return found


def write_summary(folder: Path, content: Mapping[str, Any]) -> Path:
    """Write the summary of a run."""
    return write_json(folder / NAME, content)


def read_summary(folder: Path) -> dict[str, Any]:
    """Read the summary of a results folder.

    Raises:
        InputError: there is no summary, or it cannot be read.
    """
    path = folder / NAME
    if not exists(path):
        raise InputError(f"{path} does not exist; give the results folder of a run")
    content = read_json(path)
    if not isinstance(content, dict):
        raise InputError(f"{path} holds no JSON object; run the case again")
    return content


def files_in(folder: Path) -> list[str]:
    """The files that the summary of a folder lists; none without a readable summary."""
    with suppress(InputError):
        files = read_summary(folder).get("files", [])
        return [name for name in files if isinstance(name, str)] if isinstance(files, list) else []
    return []


def relative(folder: Path, files: Iterable[Path]) -> list[str]:
    """Paths of files relative to the folder that holds them."""
    return [path.relative_to(folder).as_posix() for path in files]


def add_files(folder: Path, files: Iterable[Path]) -> dict[str, Any]:
    """Add files made from the results, such as pictures; returns the new summary."""
    content = read_summary(folder)
    content["files"] = list(dict.fromkeys([*content.get("files", []), *relative(folder, files)]))
    write_summary(folder, content)
    return content
