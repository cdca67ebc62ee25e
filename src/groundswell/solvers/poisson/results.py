"""Readers of a solution's files: what `Result` offers beside its summary."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from groundswell.errors import InputError
from groundswell.formats.text import read_json, read_table
from groundswell.spectral_elements.fields import as_dataset
from groundswell.spectral_elements.vtkhdf import LagrangeElements

if TYPE_CHECKING:
    import xarray


def fields(folder: Path) -> xarray.Dataset:
    """u, and with a known solution its error, (element, node), with the nodes' x, y and z, m.

    The nodes of the file are equally far apart in each element, and of degree 10 at most.

    Raises:
        InputError: the run has not written them.
    """
    path = folder / "solution.vtkhdf"
    if not path.exists():
        raise InputError(f"{path} does not exist; run the case with output.fields = true")
    found = LagrangeElements.read(path)
    values = {name: values[found.connectivity] for name, values in found.fields.items()}
    return as_dataset(found.points[found.connectivity], values)


def residuals(folder: Path) -> xarray.Dataset:
    """Euclidean norms of the residual by iteration, and over the first."""
    import xarray

    columns = read_table(folder / "convergence.csv")
    iteration = columns.pop("iteration").astype(int)
    over = {name: ("iteration", values) for name, values in columns.items()}
    return xarray.Dataset(over, {"iteration": iteration})


def solution(folder: Path) -> dict[str, Any]:
    """Iterations, whether they converged, u's range, and errors if the solution is known."""
    found: dict[str, Any] = read_json(folder / "solution.json")
    return found
