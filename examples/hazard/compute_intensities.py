"""Intensities of all variations of all ruptures at all sites, from the strain Green tensors.

    python compute_intensities.py

Writes `intensities.nc`, with the dimensions rupture, variation, station and period.
"""

from __future__ import annotations

from pathlib import Path

import xarray

from groundswell.seismology.green import read_tensors, velocities
from groundswell.seismology.intensity import measure

FOLDER = Path(__file__).parent
PERIODS = (3.0, 4.0, 5.0, 7.5, 10.0)  # s
