"""Pictures of a simulation of waves."""

from __future__ import annotations

from groundswell.report.pictures import Picture
from groundswell.seismology.plots.pictures import FAULTS, GROUND, MOTION
from groundswell.seismology.plots.shot_gather import shot_gather

PICTURES = [
    *MOTION,
    Picture("pressure.h5", "shot_gather.png", "Pressure by offset", shot_gather),
    *FAULTS,
    *GROUND,
]
