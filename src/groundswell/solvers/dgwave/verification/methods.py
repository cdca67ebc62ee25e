"""An earthquake in layered ground, by discontinuous Galerkin and by finite differences.

Both solvers run the same case sections, with a free surface and perfectly matched layers. The
finite-difference solver is found through the registry, like the solver of a case file.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from groundswell import registry
from groundswell.arrays import Floats
from groundswell.backends import Backend
from groundswell.seismology.media.layered import Layer
from groundswell.seismology.problems.case_sections import (
    Table,
    layered_medium,
    needs_misfits,
    point,
    receivers,
    worst_misfits,
)
from groundswell.simulation.temporary import run_built
from groundswell.verify import Check

SIZE = (6000.0, 6000.0, 3000.0)  # m
LAYERS = (Layer(0.0, 4000.0, 2000.0, 2600.0), Layer(1000.0, 6000.0, 3464.0, 2700.0))
COUPLE = {"strike": 20.0, "dip": 75.0, "rake": 30.0, "moment": 1e17}  # degrees, N m
HYPOCENTRE = (1500.0, 1500.0, 1500.0)  # m, in the middle of an element

# In the far field, velocity is the derivative of the Gaussian moment rate. Its spectrum falls to
# 5 % of the peak at omega sigma = 3.03. The shortest S wavelength is 1000 m.
SIGMA, DELAY = 0.24, 1.2  # s
BAND = (0.2, 3.03 / (2 * np.pi * SIGMA))  # Hz
DURATION, INTERVAL = 4.5, 0.03  # s

# Stations on the surface, 1.8 to 4.3 km from the epicentre.
STATIONS = ((2700.0, 3100.0), (3300.0, 1200.0), (900.0, 4400.0), (4400.0, 4700.0))

EDGE = 1000.0  # m, edge of elements
# Degree of elements and edge of cells, m; limits of the misfits of envelope and phase, %.
FORMS = {False: (4, 125.0), True: (5, 100.0)}
LIMITS = {False: (2.0, 0.5), True: (1.0, 0.5)}


@needs_misfits
def finite_differences(backend: Backend, full: bool) -> Iterator[Check]:
    """Misfits of the worst component of all stations; finite differences are the reference."""
    degree, cell = FORMS[full]
    elements = _motion("dgwave", backend, EDGE, method={"degree": degree})
    differences = _motion("earthquake", backend, cell)
    time = INTERVAL * np.arange(elements.shape[-1], dtype=float)
    found = worst_misfits(elements, differences, time, BAND)
    note = f"elements of {EDGE:g} m and degree {degree}, cells of {cell:g} m"
    for kind, misfit, limit in zip(("envelope", "phase"), found, LIMITS[full], strict=True):
        yield Check.at_most(f"two methods: {kind} misfit", misfit, limit, "%", note)


def _motion(solver: str, backend: Backend, spacing: float, **own: Table) -> Floats:
    """Velocity along east, north and up, (stations, 3, n), m/s, every INTERVAL."""
    history = {"kind": "gaussian", "sigma": SIGMA, "delay": DELAY}
    case = registry.find(solver).load("case")(
        grid={"size": SIZE, "spacing": spacing},
        time={"duration": DURATION},
        medium=layered_medium(LAYERS),
        source=[point(HYPOCENTRE, history, kind="double-couple", **COUPLE)],
        receiver=receivers((x, y, 0.0) for x, y in STATIONS),
        boundary={"width": "2 km"},
        output={"shaking_map": False, "seismograms": {"interval": INTERVAL}},
        run={"precision": "single", "backend": backend.name},
        **own,
    )
    return np.asarray(run_built(case).seismograms.values, dtype=float)
