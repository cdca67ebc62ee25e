"""`summary.json`: what ran, on what, how fast, and which files it left."""

from __future__ import annotations

import json
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from groundswell import __version__
from groundswell.backends import Backend
from groundswell.io.atomic import whole

NAME = "summary.json"
LIBRARIES = ("numpy", "h5py", "xarray", "pydantic", "pint", "pyproj", "cupy-cuda12x", "cupy-cuda13x")


def throughput(solver: Any, steps: int, seconds: float, bandwidth: float) -> dict[str, Any]:
    """Updates a second in the solver's unit, and the share of the measured bandwidth they need."""
    updates = steps * solver.updates_per_step
    rate = updates / seconds if seconds > 0 else 0.0
    return {
        "throughput": {"value": rate / 1e6, "unit": solver.unit},
        "bytes_per_update": solver.bytes_per_update,
        "bandwidth": {
            "measured": bandwidth,
            "used": rate * solver.bytes_per_update,
            "share": rate * solver.bytes_per_update / bandwidth,
        },
    }


def versions(backend: Backend) -> dict[str, str]:
    """Everything whose version may matter to a result."""
    found = {"groundswell": __version__, "python": platform.python_version()}
    for library in LIBRARIES:
        try:
            found[library] = version(library)
        except PackageNotFoundError:
            continue
    return found | backend.versions()


def write_summary(folder: Path, content: dict[str, Any]) -> Path:
    """Write the summary of a run."""
    path = folder / NAME
    with whole(path) as part:
        part.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    return path
