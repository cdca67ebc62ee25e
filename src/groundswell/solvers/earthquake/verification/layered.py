"""LOH.1 and LOH.3, a soft layer on stiff ground."""

from __future__ import annotations

from collections.abc import Iterator

from groundswell.backends import Backend
from groundswell.seismology.problems import loh
from groundswell.seismology.problems.case_sections import Table, needs_misfits
from groundswell.seismology.reference.loh import COMPONENTS, PROBLEMS, LayeredProblem
from groundswell.solvers.earthquake.case import EarthquakeCase
from groundswell.solvers.earthquake.verification import simulation as sim
from groundswell.verify import Check

POINTS = 8  # to the S wavelength at the frequency that both series are low-passed at
SPACING = {False: 200.0, True: 50.0}  # m, quick and full
MISFIT = {False: 10.0, True: 5.0}  # %
PEAK, DELAY = 3.0, 0.02  # %, s; below the quick form's frequencies peaks are flat and alike

# Limits of the misfit, %, by spacing, m, for the quick (False) and the full form (True).
GAUSSIAN_LIMITS = {
    False: {"LOH.1": {200.0: 2.5}, "LOH.3": {200.0: 4.0}},
    True: {"LOH.1": {100.0: 1.0, 50.0: 0.6}, "LOH.3": {100.0: 3.0, 50.0: 3.0}},
}

# The published series' own defects, from a frequency-wavenumber calculation (see reference/loh.py):
# LOH.3 is weak by up to 5 %, most in the vertical component, so peaks may be higher by that.
PEAK_DEFECT = {"loh1": 0.0, "loh3": 2.0}  # %


@needs_misfits
def loh1(backend: Backend, full: bool) -> Iterator[Check]:
    """The elastic problem."""
    return _checks("loh1", backend, full)


@needs_misfits
def loh3(backend: Backend, full: bool) -> Iterator[Check]:
    """The anelastic one, constant Q."""
    return _checks("loh3", backend, full)


def gaussian(backend: Backend, full: bool) -> Iterator[Check]:
    """Both problems with a Gaussian moment rate. Misfits are relative L2 norms."""
    for problem in PROBLEMS.values():
        for spacing, limit in GAUSSIAN_LIMITS[full][problem.name].items():
            motion = sim.motion(_case(problem, spacing, loh.GAUSSIAN), backend)
            misfit = loh.gaussian_misfit(problem, *motion)
            title = f"{problem.name}, Gaussian: misfit at {spacing:g} m"
            yield Check.at_most(title, misfit, limit, "%", "wavenumber integration")


def _checks(name: str, backend: Backend, full: bool) -> Iterator[Check]:
    spacing, problem = SPACING[full], PROBLEMS[name]
    highest = problem.layers[0].vs / (POINTS * spacing)
    motion = sim.motion(_case(problem, spacing, loh.brune(problem)), backend)
    found = loh.published_misfits(name, *motion, highest)
    where = f"{spacing:g} m, below {highest:.3g} Hz"
    for n, component in enumerate(COMPONENTS):
        title = f"{problem.name} {component}"
        for kind, misfit in (("envelope", found.envelope[n]), ("phase", found.phase[n])):
            yield Check.at_most(f"{title}: {kind} misfit", misfit, MISFIT[full], "%", where)
        if full:
            most = PEAK + PEAK_DEFECT[name]
            yield Check.near(f"{title}: peak", found.peak[n], 0, most, "%", where)
            yield Check.near(f"{title}: peak's delay", found.delay[n], 0, DELAY, "s", where)


def _case(problem: LayeredProblem, spacing: float, time_function: Table) -> EarthquakeCase:
    grid = {"size": loh.SIZE, "spacing": spacing}
    return sim.make_case(grid=grid, **loh.sections(problem, time_function))
