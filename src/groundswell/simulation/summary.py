"""`summary.json`: the case, device, throughput, versions and files of a run."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from groundswell.backends import Backend
from groundswell.case import Case
from groundswell.case.quantities import byte_size
from groundswell.errors import InputError
from groundswell.formats.atomic import exists
from groundswell.formats.text import read_json, write_json
from groundswell.formats.toml import toml_text
from groundswell.simulation.preparation import OpenSolver
from groundswell.version import __version__

NAME = "summary.json"
STEPS, SOLVE = "time steps", "solve"  # the phase of a run in which it makes them, or has none
LONGEST_CASE = 2**16  # characters of a case that are kept
_ABOVE_MEASURED = 1.005  # share of the measured bandwidth that would round to more than 100 %
_ROUNDS_TO_ONE = 0.005  # a share of 1 %
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

Summary = dict[str, Any]  # the contents of summary.json


def throughput(
    opened: OpenSolver, bytes_per_update: float, updates: int, seconds: float
) -> dict[str, object]:
    """Updates per second in the solver's unit, and the fraction of the measured bandwidth used."""
    rate = updates / seconds if seconds > 0 else 0.0
    used = rate * bytes_per_update
    share = {"measured": m, "share": used / m} if (m := opened.bandwidth) else {}
    return {
        "throughput": {"value": rate / 1e6, "unit": opened.solver.unit},
        "bytes_per_update": bytes_per_update,
        "bandwidth": {"used": used, **share, "in_cache": opened.in_cache},
    }


def describe_bandwidth(bandwidth: Mapping[str, Any]) -> tuple[str, str]:
    """A figure for the `bandwidth` of a summary, and the text that explains the figure.

    The figure is the traffic instead of a percentage, which would mislead, if the data stay in the
    caches, or if the traffic exceeds the measured bandwidth. That happens if other programs used
    the memory during the measurement.
    """
    used = f"{byte_size(bandwidth['used'])}/s"
    if bandwidth.get("in_cache"):
        return used, "through the caches, which hold all data"
    if "measured" not in bandwidth:  # by one of many runs
        return used, "of memory traffic"
    measured = f"{byte_size(bandwidth['measured'])}/s"
    if bandwidth["share"] < _ABOVE_MEASURED:
        return f"{100 * bandwidth['share']:.0f} %", f"of the measured memory bandwidth ({measured})"
    reason = "caches hold part of the data, or other programs slowed the measurement"
    return used, f"of memory traffic, above the {measured} measured before the run: {reason}"


def share_of_steps(wall: Mapping[str, float]) -> float:
    """The share of the wall time, by phase in s, of time steps or a direct solve; 0 without any."""
    total = sum(wall.values())
    return wall.get(phase_of_steps(wall), 0.0) / total if total else 0.0


def phase_of_steps(wall: Mapping[str, object]) -> str:
    """What a run calls its time steps: a direct solver makes none."""
    return SOLVE if SOLVE in wall else STEPS


def describe_share(share: float) -> str:
    """A share of the time as text, such as "41 %"; "< 1 %" if it would round to 0."""
    return f"{100 * share:.0f} %" if share >= _ROUNDS_TO_ONE or share == 0 else "< 1 %"


def versions(backend: Backend) -> dict[str, str]:
    """Versions of all software that may affect a result."""
    own = {"groundswell": __version__, "python": platform.python_version()}
    return own | library_versions() | backend.versions()


def library_versions(more: Iterable[str] = ()) -> dict[str, str]:
    """Versions of the installed libraries, among LIBRARIES and `more`."""
    versions = {library: _version_of(library) for library in (*LIBRARIES, *more)}
    return {library: found for library, found in versions.items() if found}


@cache
def _version_of(library: str) -> str | None:
    """Kept, because a search for metadata takes a millisecond."""
    with suppress(PackageNotFoundError):
        return version(library)
    return None


def write_summary(folder: Path, content: Mapping[str, object]) -> Path:
    """Write the summary of a run."""
    return write_json(folder / NAME, content)


def read_summary(folder: Path) -> Summary:
    """Read the summary of a results folder.

    Raises:
        InputError: there is no summary, or it cannot be read.
    """
    path = folder / NAME
    if not exists(path):
        if exists(folder / "zarr.json"):
            raise InputError(
                f"{folder} is the store of an ensemble, not the results of a run; see `groundswell "
                "ensemble status` and `groundswell ensemble export`"
            )
        raise InputError(f"{path} does not exist; give the results folder of a run")
    content = read_json(path)
    if not isinstance(content, dict):
        raise InputError(f"{path} holds no JSON object; run the case again")
    return content


def files_in(folder: Path) -> list[str]:
    """The files that the summary of a folder lists; empty without a readable summary."""
    with suppress(InputError):
        files = read_summary(folder).get("files", [])
        return [name for name in files if isinstance(name, str)] if isinstance(files, list) else []
    return []


def relative(folder: Path, files: Iterable[Path]) -> list[str]:
    """Paths of files relative to the folder that holds them."""
    return [path.relative_to(folder).as_posix() for path in files]


def text_of(case: Case) -> str:
    """The text of a case file, or a case as one; values that replace others are in comments.

    Of a case from Python, all values are in SI units, and arrays have checksums.
    """
    text = case.text or toml_text(json.loads(case.canonical()))
    settings = "".join(f"# --set {path}={value}\n" for path, value in case.settings.items())
    return settings + (text if len(text) <= LONGEST_CASE else f"{text[:LONGEST_CASE]}\n...\n")


def add_files(folder: Path, files: Iterable[Path]) -> Summary:
    """Add files made from the results, such as pictures; returns the new summary."""
    content = read_summary(folder)
    content["files"] = list(dict.fromkeys([*content.get("files", []), *relative(folder, files)]))
    write_summary(folder, content)
    return content
