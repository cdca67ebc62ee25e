"""Readers of a solution's files: the attributes of `Result`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from groundswell.formats.text import read_json, read_table
from groundswell.simulation.readers import FileReader
from groundswell.spectral_elements.vtkhdf import LagrangeElements

if TYPE_CHECKING:
    import xarray


def residuals(folder: Path) -> xarray.Dataset:
    """Euclidean norms of the residual by iteration, and their ratios to the first."""
    import xarray

    columns = read_table(folder / "convergence.csv")
    iteration = columns.pop("iteration").astype(int)
    over = {name: ("iteration", values) for name, values in columns.items()}
    return xarray.Dataset(over, {"iteration": iteration})


# u, and its error if the exact u is known, (element, node), with the nodes' x, y and z, m. The
# nodes in the file are equidistant in each element, with a degree of at most 10.
fields = FileReader(
    "solution.vtkhdf",
    lambda path: LagrangeElements.read(path).as_dataset(),
    "run the case with output.fields = true",
)

# Iterations, convergence, the range of u, and errors if the exact solution is known.
solution = FileReader("solution.json", read_json)
