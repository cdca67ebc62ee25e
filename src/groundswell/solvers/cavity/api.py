"""Flows from Python: walls and a fluid go in, fields in arrays come out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from groundswell.simulation.result import Result
from groundswell.simulation.temporary import run_built
from groundswell.solvers.cavity.case import CavityCase

Table = Mapping[str, Any]  # of a case file


def build_case(
    points: Sequence[int],
    fluid: Table,
    walls: Mapping[str, Table] | None = None,
    *,
    size: Sequence[float | str] = (1.0, 1.0, 1.0),
    start: Mapping[Any, Any] | None = None,
    backend: str = "cpu",
    precision: str = "double",
    **sections: Table | str,
) -> CavityCase:
    """The case that `simulate` runs with these arguments, for `check` and `Simulation`.

    Raises:
        CaseError: it lists everything that is wrong.
    """
    return CavityCase(
        grid={"points": list(points), "size": list(size)},
        fluid=fluid,
        walls=walls or {},
        start=None if start is None else {"flow": start},
        run={"backend": backend, "precision": precision},
        **{name: content for name, content in sections.items() if content is not None},
    )


def simulate(
    points: Sequence[int],
    fluid: Table,
    walls: Mapping[str, Table] | None = None,
    *,
    folder: str | Path | None = None,
    quiet: bool = True,
    **case: Any,
) -> Result:
    """Bring the flow in a box with walls to its steady state.

    >>> import groundswell as gs
    >>> sides = {"south": {"kind": "symmetry"}, "north": {"kind": "symmetry"}}  # two-dimensional
    >>> found = gs.cavity.simulate((15, 1, 15), {"kind": "rayleigh", "rayleigh": 1e3}, sides)
    >>> round(found.heat["nusselt"], 1)
    1.1
    >>> found.fields["T"].sizes["x"]  # walls included
    17
    >>> finer = gs.cavity.simulate(
    ...     (31, 1, 31), {"kind": "rayleigh", "rayleigh": 1e3}, sides, start=found.fields
    ... )

    Args:
        points: along x, y and z, walls not counted.
        fluid: a table with the keys of `[fluid]` in a case file. Quantities are numbers in SI, or
            text such as "9.81 m/s^2".
        walls: tables of sides by name, as in `[walls]`; by default the west wall is warm, the east
            wall cold, and the others let no heat through.
        folder: where the files of the run go. Without one they live in a temporary folder,
            `result.folder`, as long as the result does.
        quiet: show no progress.
        case: `size` of the box (x, y, z), m; `start`, a flow to begin with in a box of that size:
            `result.fields` of another run, or arrays by name: `p`, `u`, `v`, `w`, `T` (nz, ny, nx),
            and the positions `x`, `y`, `z`; `backend` ("cpu" or "cuda"); `precision` ("double" or
            "single"); the sections `time` and `output` as tables, and the text `title`.

    Returns:
        `result.fields`, an `xarray.Dataset` (z, y, x) of pressure, velocity and temperature on all
        points, walls included; `result.profiles`, by axis along the lines through the centre;
        `result.nusselt` and `result.heat`, heat fluxes and peak speeds; `result.residuals`;
        `result.summary`; `result.folder`.

    Raises:
        InputError: something cannot be simulated as asked; nothing has been written.
        RunFailed: the run started and could not go on.
    """
    return run_built(build_case(points, fluid, walls, **case), folder, quiet=quiet)
