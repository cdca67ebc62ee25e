"""Readers of a solution's files: the attributes of `Result`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from groundswell.errors import InputError
from groundswell.formats.text import read_json, read_table
from groundswell.spectral_elements.vtkhdf import LagrangeElements

if TYPE_CHECKING:
    import xarray


def fields(folder: Path) -> xarray.Dataset:
    """u, and its error if the exact u is known, (element, node), with the nodes' x, y and z, m.

    The nodes in the file are equidistant in each element, with a degree of at most 10.

    Raises:
        InputError: the run has not written them.
    """
    path = folder / "solution.vtkhdf"
    if not path.exists():
        raise InputError(f"{path} does not exist; run the case with output.fields = true")
    return LagrangeElements.read(path).as_dataset()


def residuals(folder: Path) -> xarray.Dataset:
    """Euclidean norms of the residual by iteration, and their ratios to the first."""
    import xarray

    columns = read_table(folder / "convergence.csv")
    iteration = columns.pop("iteration").astype(int)
    over = {name: ("iteration", values) for name, values in columns.items()}
    return xarray.Dataset(over, {"iteration": iteration})


def solution(folder: Path) -> dict[str, Any]:
    """Iterations, convergence, the range of u, and errors if the exact solution is known."""
    found: dict[str, Any] = read_json(folder / "solution.json")
    return found
