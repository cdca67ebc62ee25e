"""Pictures of a simulation of waves."""

from __future__ import annotations

from groundswell.report.pictures import Picture
from groundswell.seismology.plots.record_section import record_section

PICTURES = [
    Picture("seismograms.h5", "seismograms.png", "Seismograms by distance", record_section),
]
