"""Pictures of hazard analyses: curves, maps, disaggregations and spectra."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from groundswell.seismology.hazard.analysis import Hazard
from groundswell.seismology.hazard.plots.curves import curves_picture
from groundswell.seismology.hazard.plots.disaggregation import disaggregation_picture
from groundswell.seismology.hazard.plots.maps import map_picture
from groundswell.seismology.hazard.plots.spectra import spectral_measures, spectrum_picture

MOST_SITES = 3  # of curves and spectra, if the case names none


def draw_pictures(folder: Path, hazard: Hazard) -> Iterator[Path]:
    """Draw the pictures of an analysis, and yield the path of each."""
    case = hazard.case
    sites = list(case.output.sites) or list(hazard.sites.names[:MOST_SITES])
    for measure in case.measures:
        yield curves_picture(folder, hazard, measure, sites[:MOST_SITES])
        for years in case.return_periods if len(hazard.sites) > 1 else ():
            yield map_picture(folder, hazard, measure, years)
    if len(spectral_measures(case.measures)) > 1:
        for site in sites:
            yield spectrum_picture(folder, hazard, site)
    for site, measure in hazard.disaggregations:
        yield disaggregation_picture(folder, hazard, site, measure)
