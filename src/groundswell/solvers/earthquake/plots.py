"""Pictures of an earthquake."""

from __future__ import annotations

from groundswell.seismology.plots.pictures import FAULTS, GROUND, MOTION

PICTURES = [*MOTION, *FAULTS, *GROUND]
