"""Elastic energy in a closed box."""

from __future__ import annotations

from dataclasses import dataclass
from math import log

import numpy as np

from groundswell.backends import Backend
from groundswell.grids.cartesian import GHOSTS
from groundswell.solvers.earthquake.case import EarthquakeCase
from groundswell.solvers.earthquake.solver import STRESSES, VELOCITIES, Earthquake
from groundswell.verify import Check
from groundswell.verify.earthquake import simulation as sim
from groundswell.verify.earthquake.simulation import Floats


@dataclass(frozen=True)
class Body:
    """Density, lambda (Pa) and 1/mu (1/Pa) of a periodic box's cells, (nz, ny, nx)."""

    rho: Floats
    lam: Floats
    softness: Floats

    @classmethod
    def random(cls, cells: tuple[int, int, int], seed: int) -> Body:
        rng = np.random.default_rng(seed)
        ...
