"""TPV3: the rupture time of a fault in a full space, from a boundary integral method.

The fault is 30 km long and 15 km wide; rupture starts in a square of 3 km at its middle. The file
has one quarter of the fault, because the solution is symmetric: Day, Dalguer, Lapusta & Liu,
J. Geophys. Res. 110, B12307, 2005, table 1 and figure 5. Values are those that the coseis project
distributes (BSD-2-Clause).
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from groundswell.arrays import Floats

FILE = Path(__file__).parent / "tpv3_rupture_time.csv.gz"
CELL = 100.0  # m
# Places along strike and down dip from the hypocenter, m, and the largest slip rates there, m/s.
PEAKS = {"P1": ((7450.0, -50.0), 3.076), "P2": ((-50.0, 5950.0), 2.971)}
LOW_PASS = 2.0  # Hz
PEAKS_BELOW = {"P1": 2.418, "P2": 2.372}  # the same after `low_passed`, m/s


@cache
def _quarter() -> Floats:
    """Rupture time at the middles of cells, (along strike, along dip), s."""
    return np.loadtxt(FILE, delimiter=",")


def low_passed(rates: Floats, dt: float) -> Floats:
    """Slip rates (..., samples) at intervals `dt` after a Butterworth filter of three poles.

    Largest slip rates of grids also have waves that cells do not resolve.
    """
    from scipy.signal import butter, sosfilt  # takes long to import

    return np.asarray(sosfilt(butter(3, LOW_PASS, fs=1 / dt, output="sos"), rates, axis=-1))


def rupture_time(along_strike: ArrayLike, along_dip: ArrayLike) -> Floats:
    """Rupture time at distances from the hypocenter along strike and dip (m), s.

    It is NaN beyond the middles of the outermost cells, which are 50 m from the edges.
    """
    from scipy.interpolate import RegularGridInterpolator  # takes long to import

    times = _quarter()
    axes = [(np.arange(n) + 0.5) * CELL for n in times.shape]
    at = np.stack(np.broadcast_arrays(np.abs(along_strike), np.abs(along_dip)), axis=-1)
    return RegularGridInterpolator(axes, times, bounds_error=False)(np.fmax(at, CELL / 2))
