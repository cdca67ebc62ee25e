"""Size of the strain Green tensor that a run records, for `check`, and warnings."""

from __future__ import annotations

from collections.abc import Iterator

from groundswell.case.quantities import Quantity
from groundswell.errors import counted
from groundswell.seismology.green.point_files import KEY
from groundswell.seismology.green.points import GreenSurvey
from groundswell.seismology.sources.spectra import radiated_energy_below

LOST = 1e-6  # share of the energy of a force above the frequencies of samples that is tolerated


def green_quantities(survey: GreenSurvey, interval: float, group: str) -> Iterator[Quantity]:
    """The number of points and strains, and the frequencies that samples resolve.

    Args:
        interval: between samples, s.
        group: heading of the quantities.
    """
    points, components = survey.points.basis.shape[:2]
    text = f"{counted(points, 'point')}, {components} strains each, every {interval:.4g} s"
    label = "strain Green tensor"
    yield Quantity("strain_points", points, label, text=text, group=group)
    highest = 0.5 / interval
    text = f"up to {highest:.3g} Hz"
    yield Quantity("strain_frequency", highest, "frequencies of strain", "Hz", text, group)


def green_warnings(survey: GreenSurvey, interval: float) -> Iterator[str]:
    """Warn if a force has energy at frequencies that the samples do not resolve."""
    source, highest = survey.force.source, 0.5 / interval
    lost = 1 - radiated_energy_below(highest, source.samples, source.step)
    if lost > LOST:
        yield (
            f"the force radiates {100 * lost:.2g} % of its energy above {highest:.3g} Hz, which "
            f"samples of strain every {interval:.4g} s do not resolve; shorten {KEY}.interval, or "
            "lengthen the force"
        )
