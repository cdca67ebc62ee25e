"""Readers of a solution's files: the attributes of `Result`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from groundswell.formats.netcdf import open_dataset
from groundswell.formats.text import read_json, read_table
from groundswell.simulation.readers import FileReader
from groundswell.spectral_elements.vtkhdf import LagrangeElements

if TYPE_CHECKING:
    import xarray


def _table(path: Path) -> xarray.Dataset:
    """A CSV table with its first column as coordinate."""
    import xarray

    (name, first), *others = read_table(path).items()
    at = first.astype(int) if name == "iteration" else first
    return xarray.Dataset({key: (name, column) for key, column in others}, {name: at})


# Euclidean norms of the residual by iteration, and their ratios to the first.
residuals = FileReader("convergence.csv", _table, "run the case without [time]; see history")

# Of a solution in time: iterations, the range of u and its mean, by time, s.
history = FileReader("history.csv", _table, "run the case with [time]")

# Of a solution in time: flows through sides, and what has flowed in, by time, s.
flows = FileReader(
    "flows.nc",
    lambda path: open_dataset(path).load(),
    "run the case with [time]; without it, solution has the flows",
)

# u, and its error if the exact u is known, (element, node), with the nodes' x, y and z, m. The
# nodes in the file are equidistant in each element, with a degree of at most 10.
fields = FileReader(
    "solution.vtkhdf",
    lambda path: LagrangeElements.read(path).as_dataset(),
    "run the case with output.fields = true",
)

# Iterations, convergence, the range of u, and errors if the exact solution is known.
solution = FileReader("solution.json", read_json)
