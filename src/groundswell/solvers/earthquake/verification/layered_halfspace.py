"""Surface motion of a double couple in three layers over a half-space, by wavenumber integration.

The reference is seismology/reference/layered.py. Absorbing layers and the time step are the
defaults, so the misfits include their errors. Misfits are relative L2 norms over six stations, all
components and all times.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from groundswell.backends import Backend
from groundswell.seismology.media.layered import Layer
from groundswell.seismology.reference.fullspace import double_couple_tensor
from groundswell.seismology.reference.layered import LayeredHalfSpace, layered_velocity
from groundswell.seismology.reference.misfit import relative_misfit
from groundswell.seismology.reference.pulse import Pulse
from groundswell.solvers.earthquake.case import EarthquakeCase
from groundswell.solvers.earthquake.verification import simulation as sim
from groundswell.verify import Check

# vp, vs (m/s) and density (kg/m^3) of the layers and the half-space; interfaces (m) on cell faces
# at spacings of 200, 100 and 50 m, and off them.
ROCKS = ((2600, 1400, 2050), (4000, 2200, 2350), (5000, 2850, 2550), (6000, 3460, 2700))
ON_FACES = (800.0, 2000.0, 3600.0)
OFF_FACES = (730.0, 1950.0, 3560.0)

HALF_STEP = 5.0  # m, distance from an interface to the nearest nodes of the NetCDF model

SIZE = (11000.0, 11000.0, 5000.0)  # m
EPICENTRE, DEPTH = (3110.0, 4530.0), 2830.0  # m
STRIKE, DIP, RAKE, MOMENT = 30.0, 60.0, 40.0, 1e16  # degrees, N m
SIGMA, DELAY = 0.25, 1.25  # s, of the Gaussian moment rate
DURATION = 9.0  # s

# The stations are at least 1.5 km from the region's sides.
DISTANCES = np.array([1000.0, 2300.0, 3600.0, 5000.0, 6400.0, 8000.0])  # m
DIRECTIONS = np.radians([200.0, 110.0, 305.0, 62.0, 15.0, 38.0])  # from x towards y
OFFSETS = np.column_stack([np.cos(DIRECTIONS), np.sin(DIRECTIONS)]) * DISTANCES[:, None]

# Limits of the misfit, %, by spacing, m, for the quick (False) and the full form (True). At 200 m,
# the top layer has 3.6 cells per S wavelength at the frequency where the far-field spectrum of the
# source has fallen to 5 % of its peak.
ON_FACES_LIMITS = {False: {200.0: 2.5}, True: {200.0: 2.5, 100.0: 1.0, 50.0: 0.5}}
OFF_FACES_LIMITS = {False: {200.0: 2.5}, True: {200.0: 2.5, 100.0: 1.0}}


def interfaces_on_faces(backend: Backend, full: bool) -> list[Check]:
    """Misfits with interfaces on cell faces."""
    layers = _layers(ON_FACES)
    medium = sim.layered_medium(layers)
    return _checks("interfaces on faces", layers, medium, ON_FACES_LIMITS[full], backend)


def interfaces_off_faces(backend: Backend, full: bool) -> list[Check]:
    """Misfits with interfaces inside cells."""
    layers = _layers(OFF_FACES)
    medium = sim.layered_medium(layers)
    return _checks("interfaces off faces", layers, medium, OFF_FACES_LIMITS[full], backend)


def model_file(backend: Backend, full: bool) -> list[Check]:
    """Misfits of a NetCDF model with interfaces inside cells."""
    layers = _layers(OFF_FACES)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "layers.nc"
        _write_model(path, layers)
        medium = {"kind": "netcdf", "file": str(path)}
        return _checks("NetCDF model", layers, medium, OFF_FACES_LIMITS[full], backend)


def _layers(interfaces: tuple[float, ...]) -> list[Layer]:
    return [Layer(top, *rock) for top, rock in zip((0.0, *interfaces), ROCKS, strict=True)]


def _checks(
    name: str,
    layers: list[Layer],
    medium: dict[str, Any],
    limits: dict[float, float],
    backend: Backend,
) -> list[Check]:
    """Checks of the misfit at each spacing, and of its decrease with each refinement.

    Args:
        name: name of the problem.
        layers: layers of the exact solution.
        medium: `[medium]` table of the simulation.
        limits: limits of the misfit, %, by spacing, m.
        backend: backend of the simulation.
    """
    misfits = {h: _misfit(_case(medium, h), layers, backend) for h in limits}
    where = f"{len(OFFSETS)} stations, defaults"
    checks = [
        Check.at_most(f"{name}: misfit at {spacing:g} m", misfit, limits[spacing], "%", where)
        for spacing, misfit in misfits.items()
    ]
    for (coarse, before), (fine, after) in pairwise(misfits.items()):
        title = f"{name}: misfit at {fine:g} m / at {coarse:g} m"
        checks.append(Check.at_most(title, after / before, 1.0))
    return checks


def _misfit(case: EarthquakeCase, layers: list[Layer], backend: Backend) -> float:
    """Misfit of the velocities, %."""
    time, velocity = sim.motion(case, backend)
    moment = double_couple_tensor(STRIKE, DIP, RAKE, MOMENT)
    pulse = Pulse.gaussian(SIGMA, DELAY)
    exact = layered_velocity(LayeredHalfSpace(layers), DEPTH, moment, OFFSETS, time, pulse)
    return 100 * relative_misfit(velocity, exact)


def _write_model(path: Path, layers: list[Layer]) -> None:
    """Write layers to a NetCDF model with nodes on either side of each interface."""
    import xarray

    tops = np.array([layer.top for layer in layers])
    depth = np.concatenate([[0.0], tops[1:] - HALF_STEP, tops[1:] + HALF_STEP, [SIZE[2]]])
    depth.sort()
    layer = np.searchsorted(tops, depth, side="right") - 1
    columns = {
        name: np.array([getattr(layers[n], name) for n in layer]) for name in ("vp", "vs", "rho")
    }
    axes = {"x": [0.0, SIZE[0]], "y": [0.0, SIZE[1]], "depth": depth}
    xarray.Dataset(
        {name: (list(axes), np.tile(column, (2, 2, 1))) for name, column in columns.items()}, axes
    ).to_netcdf(path, engine="h5netcdf")


def _case(medium: dict[str, Any], spacing: float) -> EarthquakeCase:
    return sim.make_case(
        grid={"size": SIZE, "spacing": spacing},
        time={"duration": DURATION},
        medium=medium,
        source=[
            sim.point(
                (*EPICENTRE, DEPTH),
                {"kind": "gaussian", "sigma": SIGMA, "delay": DELAY},
                kind="double-couple",
                **{"strike": STRIKE, "dip": DIP, "rake": RAKE, "moment": MOMENT},
            )
        ],
        receiver=sim.receivers((x, y, 0.0) for x, y in OFFSETS + EPICENTRE),
        run={"precision": "single"},
    )
