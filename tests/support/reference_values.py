"""Statistics of short runs in double precision, and how they are compared with stored ones.

Bits differ between compilers, which fuse and reorder floating-point operations as they see fit:
with g++ -O1 and no fused operations these results change by less than 1e-12 of their size. A
coefficient that is wrong by 1e-6 changes them by about 1e-6. The tolerance lies between the two,
well away from both. Tables are text of nine digits and have a tolerance of their own.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import digests
import numpy as np

from groundswell import registry
from groundswell.simulation.run import run

PATH = Path(__file__).with_name("reference_values.json")
TOLERANCE = 1e-9
TEXT_TOLERANCE = 1e-7
DIGITS = 12
SAMPLES = 7  # values of each array that are stored

# Cases of digest_cases/.
CASES = (
    "quake_layers",
    "quake_periodic",
    "cavity_cube",
    "cavity_periodic",
    "poisson_box",
    "poisson_kershaw",
    "dg_layers",
    "dg_sea",
    "dg_hills",
)
# What is compared: neither coordinates nor errors, which are differences of nearly equal numbers.
FILES = {
    "final.nc": "final",
    "seismograms.h5": "velocity",
    "pressure.h5": "pressure",
    "fields.vtkhdf": "PointData/",
    "shaking_map.nc": "pgv|pga",
    "surface.nc": "velocity",
    "flow.nc": "[puvwT]",
    "residuals.csv": "mass|momentum|heat",
    "solution.vtkhdf": "PointData/u",
    "convergence.csv": "residual",
}
# Of conjugate gradients; after a hundred, rounding has changed the residual by 1e-4.
ITERATIONS = 20
# The fields of an earthquake at its end, which it does not write itself.
FIELDS = ["vx", "vy", "vz", "sxx", "syy", "szz", "sxy", "sxz", "syz"]
FINAL = {"fields": FIELDS, "where": {"kind": "all"}, "what": "final", "file": "final.nc"}

Values = dict[str, dict[str, Any]]


def compute(name: str) -> Values:
    """Run a case; the statistics of each array in double precision that it leaves."""
    with TemporaryDirectory() as folder:
        digests.write_inputs(Path(folder))
        content = tomllib.loads((digests.CASES / f"{name}.toml").read_text())
        content["run"]["precision"] = "double"
        if content["solver"] == "earthquake":
            content.setdefault("output", {})["record"] = [FINAL]
        schema = registry.find(content["solver"]).load("case")
        results = Path(folder) / "results"
        run(schema.from_dict(content, folder), folder=results, backend="cpu")
        return {key: statistics(np.asarray(array)) for key, array in _arrays(results)}


def _arrays(folder: Path) -> Iterator[tuple[str, Any]]:
    """The arrays to compare, with their names."""
    for path in (folder / name for name in FILES):
        arrays = digests.READERS[path.suffix](path) if path.exists() else ()
        for key, values in arrays:
            if re.search(FILES[path.name], key):
                first = ITERATIONS if path.name == "convergence.csv" else None
                yield f"{path.name}:{key}", values[:first]


def statistics(values: Any) -> dict[str, Any]:
    """Euclidean norm, largest magnitude, a weighted sum, and some of the values.

    The weights differ, so that values which change places change the sum.
    """
    flat = values.ravel()
    found = {
        "norm": np.linalg.norm(flat),
        "largest": np.abs(flat).max(),
        "checksum": np.cos(np.arange(flat.size)) @ flat,
        "samples": flat[np.linspace(0, flat.size - 1, SAMPLES).astype(int)],
    }
    return {name: _rounded(value) for name, value in found.items()}


def _rounded(value: Any) -> Any:
    if np.ndim(value):
        return [_rounded(one) for one in value]
    return float(f"{value:.{DIGITS}g}")


def differences(found: Values, expected: Values) -> Iterator[str]:
    """What differs by more than the tolerance of an array's norm or largest value, a line each."""
    for key in sorted(found.keys() | expected.keys()):
        if key not in found or key not in expected:
            yield f"{key} is {'new' if key in found else 'missing'}"
            continue
        ours, theirs = found[key], expected[key]
        tolerance = TEXT_TOLERANCE if ".csv:" in key else TOLERANCE
        for name, scale in SCALES.items():
            error = np.abs(np.subtract(ours[name], theirs[name])).max()
            if not error <= tolerance * theirs[scale]:
                yield f"{key}: {name} is {ours[name]} instead of {theirs[name]}"


SCALES = {"norm": "norm", "largest": "largest", "checksum": "norm", "samples": "largest"}


def read() -> Mapping[str, Values]:
    """The stored statistics, by case."""
    stored: dict[str, Values] = json.loads(PATH.read_text())
    return stored


def write() -> None:
    """Compute and store the statistics of all cases."""
    PATH.write_text(json.dumps({name: compute(name) for name in CASES}, indent=1) + "\n")
