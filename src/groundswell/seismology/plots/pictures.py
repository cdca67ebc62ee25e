"""The pictures and films that solvers of earthquakes share."""

from __future__ import annotations

from groundswell.report.pictures import Picture
from groundswell.seismology.formats.intensity import MAPS
from groundswell.seismology.formats.intensity import NAME as INTENSITY
from groundswell.seismology.plots.fault_maps import rate_map, slip_map
from groundswell.seismology.plots.intensity_maps import intensity_maps
from groundswell.seismology.plots.plastic_strain import plastic_strain
from groundswell.seismology.plots.record_section import record_section
from groundswell.seismology.plots.response_spectra import response_spectra
from groundswell.seismology.plots.shaking_map import shaking_map
from groundswell.seismology.plots.slip_rate_film import slip_rate_film
from groundswell.seismology.plots.snapshots import snapshots
from groundswell.seismology.plots.surface_film import surface_film

MOTION = [
    Picture("shaking_map.nc", "shaking_map.png", "Peak ground velocity", shaking_map),
    Picture(MAPS, "intensity_maps.png", "Spectral acceleration by period", intensity_maps),
    Picture("seismograms.h5", "seismograms.png", "Seismograms by distance", record_section),
    Picture(INTENSITY, "response_spectra.png", "Response spectra", response_spectra),
]
FAULTS = [
    Picture("fault.nc", "fault_slip.png", "Slip on faults, and when they broke", slip_map),
    Picture("fault.nc", "fault_rate.png", "Largest slip rates on faults", rate_map),
    Picture(
        "rupture.nc",
        "fault_slip_rate.mp4",
        "Slip rate on faults over time, and the front of the rupture",
        slip_rate_film,
        is_film=True,
    ),
]
GROUND = [
    Picture("plastic_strain.nc", "plastic_strain.png", "Plastic strain", plastic_strain),
    Picture("surface.nc", "surface.png", "Waves on the surface", snapshots),
    Picture(
        "surface.nc",
        "surface_velocity.mp4",
        "Waves on the surface over time",
        surface_film,
        is_film=True,
    ),
]
