"""Surface motion of a double couple in three layers over a half-space, by wavenumber integration.

Absorbing layers and the time step are the defaults, so the misfits include their errors.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from groundswell.backends import Backend
from groundswell.seismology.media.layered import Layer
from groundswell.seismology.problems import layers as problem
from groundswell.seismology.problems.case_sections import Table, layered_medium
from groundswell.solvers.earthquake.verification import simulation as sim
from groundswell.verify import Check

# Interfaces (m) on cell faces at spacings of 200, 100 and 50 m, and off them.
ON_FACES = (800.0, 2000.0, 3600.0)
OFF_FACES = (730.0, 1950.0, 3560.0)

HALF_STEP = 5.0  # m, distance from an interface to the nearest nodes of the NetCDF model

# Limits of the misfit, %, by spacing, m, for the quick (False) and the full form (True). At 200 m,
# the top layer has 3.6 cells per S wavelength at the frequency where the far-field spectrum of the
# source has fallen to 5 % of its peak.
ON_FACES_LIMITS = {False: {200.0: 2.5}, True: {200.0: 2.5, 100.0: 1.0, 50.0: 0.5}}
OFF_FACES_LIMITS = {False: {200.0: 2.5}, True: {200.0: 2.5, 100.0: 1.0}}


def interfaces_on_faces(backend: Backend, full: bool) -> Iterator[Check]:
    """Misfits with interfaces on cell faces."""
    layers = problem.layers(ON_FACES)
    misfits = _misfits(layers, layered_medium(layers), ON_FACES_LIMITS[full], backend)
    return _checks("interfaces on faces", misfits, ON_FACES_LIMITS[full])


def interfaces_off_faces(backend: Backend, full: bool) -> Iterator[Check]:
    """Misfits with interfaces inside cells."""
    layers = problem.layers(OFF_FACES)
    misfits = _misfits(layers, layered_medium(layers), OFF_FACES_LIMITS[full], backend)
    return _checks("interfaces off faces", misfits, OFF_FACES_LIMITS[full])


def model_file(backend: Backend, full: bool) -> Iterator[Check]:
    """Misfits of a NetCDF model with interfaces inside cells."""
    layers = problem.layers(OFF_FACES)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "layers.nc"
        _write_model(path, layers)
        medium = {"kind": "netcdf", "file": str(path)}
        misfits = _misfits(layers, medium, OFF_FACES_LIMITS[full], backend)
    return _checks("NetCDF model", misfits, OFF_FACES_LIMITS[full])


def _misfits(
    layers: list[Layer], medium: Table, spacings: Iterable[float], backend: Backend
) -> dict[float, float]:
    """Misfit, %, by spacing, m.

    Args:
        layers: layers of the exact solution.
        medium: `[medium]` table of the simulation.
    """
    cases = {spacing: sim.make_case(**problem.sections(medium, spacing)) for spacing in spacings}
    return {h: problem.misfit(layers, *sim.motion(case, backend)) for h, case in cases.items()}


def _checks(name: str, misfits: dict[float, float], limits: dict[float, float]) -> Iterator[Check]:
    """Checks of the misfit at each spacing, and of its decrease with each refinement."""
    where = f"{len(problem.OFFSETS)} stations, defaults"
    for spacing, misfit in misfits.items():
        title = f"{name}: misfit at {spacing:g} m"
        yield Check.at_most(title, misfit, limits[spacing], "%", where)
    for (coarse, before), (fine, after) in pairwise(misfits.items()):
        title = f"{name}: misfit at {fine:g} m / at {coarse:g} m"
        yield Check.at_most(title, after / before, 1.0)


def _write_model(path: Path, layers: list[Layer]) -> None:
    """Write layers to a NetCDF model with nodes on either side of each interface."""
    import xarray

    tops = np.array([layer.top for layer in layers])
    depth = np.concatenate([[0.0], tops[1:] - HALF_STEP, tops[1:] + HALF_STEP, [problem.SIZE[2]]])
    depth.sort()
    layer = np.searchsorted(tops, depth, side="right") - 1
    columns = {
        name: np.array([getattr(layers[n], name) for n in layer]) for name in ("vp", "vs", "rho")
    }
    axes = {"x": [0.0, problem.SIZE[0]], "y": [0.0, problem.SIZE[1]], "depth": depth}
    xarray.Dataset(
        {name: (list(axes), np.tile(column, (2, 2, 1))) for name, column in columns.items()}, axes
    ).to_netcdf(path, engine="h5netcdf")
