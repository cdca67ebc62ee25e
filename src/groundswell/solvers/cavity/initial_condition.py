"""The initial flow: fluid at rest, or the results of another run on any grid of the same box."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from groundswell.arrays import Floats, HostArray
from groundswell.errors import InputError
from groundswell.formats.damage import read_errors_reported
from groundswell.grids.cartesian import Part, format_extent
from groundswell.solvers.cavity.case import AXES, FIELDS, CavityCase
from groundswell.solvers.cavity.level_grid import LevelGrid

ROUNDING = 1e-6  # relative difference allowed between box sizes
DISTURBANCE = 0.02  # of temperature in fluid heated from below, over the difference of the walls
WEAKER = 0.6  # ratio of the disturbances along the two horizontal axes, to break their symmetry


def initial_flow(grid: LevelGrid, part: Part) -> dict[str, Floats]:
    """The flow that the case names, or fluid at rest; see `fluid_at_rest`.

    Raises:
        InputError: a value is not finite.
    """
    if grid.case.start is None:
        return fluid_at_rest(grid, part)
    flow = read_initial_flow(grid, part)
    return flow | {"T": flow["T"] - grid.fluid.neutral}


def fluid_at_rest(grid: LevelGrid, part: Part) -> dict[str, Floats]:
    """Fluid at rest on a part of the grid, (nz, ny, nx) each; temperature less the neutral one, K.

    Without disturbance, fluid heated from below would stay at rest however large the Rayleigh
    number. Rolls as wide as they are high disturb it.
    """
    fields = {name: np.zeros(part.shape) for name in FIELDS}
    up = grid.scales.overturning_axis
    if up is not None and grid.varies(up):
        scale = DISTURBANCE * grid.scales.temperature_difference
        across = [axis for axis in range(3) if axis != up and grid.varies(axis)]
        weights = zip(across, (1.0, WEAKER), strict=False)
        rolls = sum(weight * _rolls(grid, part, axis) for axis, weight in weights)
        fields["T"] += scale * rolls * np.sin(np.pi * _fraction(grid, part, up))
    return fields


def _rolls(grid: LevelGrid, part: Part, axis: int) -> Floats:
    """A wave along an axis whose half-length is about the distance between hot and cold walls."""
    pair = 2 if grid.periodic[axis] else 1  # a period holds two rolls
    rolls = pair * max(1, round(grid.case.grid.size[axis] / grid.scales.length / pair))
    return np.asarray(np.cos(rolls * np.pi * _fraction(grid, part, axis)))


def _fraction(grid: LevelGrid, part: Part, axis: int) -> Floats:
    """Positions along an axis over the box's size, with the axes of a field."""
    positions = grid.interior_positions(axis)[part.indices(axis)] / grid.case.grid.size[axis]
    shape = [1, 1, 1]
    shape[2 - axis] = -1
    return positions.reshape(shape)


def check_initial_flow(case: CavityCase) -> None:
    """Check that the initial flow is complete and belongs to a box of this size.

    Raises:
        InputError: it cannot be read, lacks fields, or belongs to another box.
    """
    assert case.start is not None
    path, size = case.start.flow, case.grid.size
    with _opened(path) as file:
        missing = [name for name in (*AXES, *FIELDS) if name not in file]
        if missing:
            raise InputError(f"{path} lacks {', '.join(missing)}; give the flow.nc of a cavity run")
        extent = [float(file[axis][-1]) for axis in AXES]
    if not np.allclose(extent, size, rtol=ROUNDING):
        raise InputError(
            f"{_name(path)} has a box of {format_extent(extent)}, not {format_extent(size)}; "
            "start from a flow in the same box"
        )


def read_initial_flow(grid: LevelGrid, part: Part) -> dict[str, Floats]:
    """The initial fields on a part of the grid by linear interpolation, (nz, ny, nx) each.

    Raises:
        InputError: a value is not finite.
    """
    from scipy.interpolate import RegularGridInterpolator

    assert grid.case.start is not None
    fields, path = {}, grid.case.start.flow
    with _opened(path) as file:
        axes = [np.asarray(file[axis]) for axis in AXES[::-1]]
        target = [grid.interior_positions(axis)[part.indices(axis)] for axis in (2, 1, 0)]
        positions = np.meshgrid(
            *(np.clip(x, axis[0], axis[-1]) for x, axis in zip(target, axes, strict=True)),
            indexing="ij",
        )
        for name in FIELDS:
            interpolate = RegularGridInterpolator(axes, np.asarray(file[name], np.float64))
            fields[name] = np.asarray(interpolate(tuple(positions)))
            if not np.isfinite(fields[name]).all():
                raise InputError(
                    f"{name} in {_name(path)} is not finite everywhere; give another flow"
                )
    return fields


@contextmanager
def _opened(path: Path | Mapping[str, HostArray]) -> Iterator[Mapping[str, Any]]:
    """The arrays of a flow by name; those of a file are read on access.

    Raises:
        InputError: the file cannot be read.
    """
    import h5py

    if isinstance(path, Mapping):
        yield path
        return
    remedy = "give the flow.nc of a cavity run"
    with read_errors_reported(path, "a flow", remedy), h5py.File(path, "r") as file:
        yield file


def _name(path: Path | Mapping[str, object]) -> str:
    return "start.flow" if isinstance(path, Mapping) else str(path)
