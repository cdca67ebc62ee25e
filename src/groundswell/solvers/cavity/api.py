"""Cavity flows from Python: `simulate` takes a fluid and walls, and returns arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict, Unpack

from groundswell.arguments import listed
from groundswell.case.section import CaseTable
from groundswell.simulation.result import Result
from groundswell.simulation.temporary import run_built
from groundswell.solvers.cavity.case import CavityCase


class Sections(TypedDict, total=False):
    """Further keyword arguments of `build_case`; `simulate` describes them."""

    backend: str
    precision: str
    title: str | None
    stretching: Mapping[str, float] | None
    positions: Mapping[str, Sequence[float | str]] | None
    time: CaseTable | None
    output: CaseTable | None
    solid: Sequence[CaseTable] | None


class CaseArguments(Sections, total=False):
    """Keyword arguments of `simulate` that describe the case."""

    size: Sequence[float | str]
    start: Mapping[Any, object] | None


def build_case(
    points: Sequence[int],
    fluid: CaseTable,
    walls: Mapping[str, CaseTable] | None = None,
    *,
    size: Sequence[float | str] = (1.0, 1.0, 1.0),
    start: Mapping[Any, object] | None = None,
    **sections: Unpack[Sections],
) -> CavityCase:
    """Build the case that `simulate` runs, for `check` and `Simulation`; see `simulate`.

    >>> import groundswell as gs
    >>> sides = {"south": {"kind": "symmetry"}, "north": {"kind": "symmetry"}}  # two-dimensional
    >>> fluid = {"kind": "rayleigh", "rayleigh": 1e3}
    >>> case = gs.cavity.build_case((15, 1, 15), fluid, sides)
    >>> gs.check(case)["problems"]
    []

    Raises:
        CaseError: the case is invalid; the error lists all violations.
    """
    return CavityCase(
        grid={
            "points": listed(points),
            "size": listed(size),
            "stretching": sections.pop("stretching", None) or {},
            "positions": _listed(sections.pop("positions", None)),
        },
        fluid=fluid,
        walls={} if walls is None else walls,
        start=None if start is None else {"flow": start},
        run={
            "backend": sections.pop("backend", "cpu"),
            "precision": sections.pop("precision", "double"),
        },
        **{name: content for name, content in sections.items() if content is not None},
    )


def _listed(positions: Mapping[str, Sequence[float | str]] | None) -> dict[str, object]:
    """Positions by axis as lists, which may be arrays."""
    return {axis: listed(those) for axis, those in (positions or {}).items()}


def simulate(
    points: Sequence[int],
    fluid: CaseTable,
    walls: Mapping[str, CaseTable] | None = None,
    *,
    folder: str | Path | None = None,
    overwrite: bool = False,
    quiet: bool = True,
    **case: Unpack[CaseArguments],
) -> Result:
    """Compute the flow in a box with walls: steady, or in time with a duration.

    >>> import groundswell as gs
    >>> sides = {"south": {"kind": "symmetry"}, "north": {"kind": "symmetry"}}  # two-dimensional
    >>> result = gs.cavity.simulate((15, 1, 15), {"kind": "rayleigh", "rayleigh": 1e3}, sides)
    >>> round(result.heat["nusselt"], 1)
    1.1
    >>> result.fields["T"].sizes["x"]  # walls included
    17
    >>> finer = gs.cavity.simulate(
    ...     (31, 1, 31), {"kind": "rayleigh", "rayleigh": 1e3}, sides, start=result.fields
    ... )

    Args:
        points: number along x, y and z, without the walls.
        fluid: a table with the keys of `[fluid]` in a case file. Quantities are numbers in SI units
            or text such as "9.81 m/s^2".
        walls: tables of sides by name, as in `[walls]`. By default the west wall is hot, the east
            wall is cold, and the others are adiabatic.
        folder: where the run writes its files; by default a temporary folder, `result.folder`,
            which exists as long as the result does.
        overwrite: replace results of another case in that folder.
        quiet: show no progress.
        case: `size` of the box (x, y, z), m; `start`, an initial flow in a box of that size:
            `result.fields` of another run, or arrays by name: `p`, `u`, `v`, `w`, `T` (nz, ny, nx),
            and the positions `x`, `y`, `z`, m; `backend` ("cpu" or "cuda"); `precision` ("double"
            or "single"); `stretching` and `positions`, tables by axis as in `[grid]`; `time` and
            `output`, tables with the keys of these sections; `solid`, a list of tables; and the
            text `title`.

    Returns:
        `result.fields`, an `xarray.Dataset` (z, y, x) of pressure, velocity and temperature on all
        points, walls included; `result.profiles`, fields on the centre lines by axis;
        `result.nusselt` and `result.heat`, heat fluxes and peak velocities; `result.residuals`, or
        `result.history` of flow in time; `result.summary`; `result.folder`.

    Raises:
        InputError: the input is invalid; nothing has been written.
        RunFailed: the run started and failed.
    """
    built = build_case(points, fluid, walls, **case)
    return run_built(built, folder, overwrite=overwrite, quiet=quiet)
