"""LOH.1 and LOH.3, a soft layer over a stiff half-space: case sections and misfits.

The references are the published semi-analytic solutions for Brune's moment rate, and wavenumber
integration for a Gaussian moment rate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from groundswell.arrays import Floats
from groundswell.seismology.problems.case_sections import Table, layered_medium, point, receivers
from groundswell.seismology.reference.layered import (
    LayeredHalfSpace,
    MomentSource,
    layered_velocity,
)
from groundswell.seismology.reference.loh import (
    PROBLEMS,
    STEP,
    LayeredProblem,
    loh_reference,
    radial_transverse,
)
from groundswell.seismology.reference.misfit import (
    envelope_misfit,
    peak_delay,
    peak_difference,
    phase_misfit,
    relative_misfit,
)
from groundswell.seismology.reference.pulse import Pulse
from groundswell.seismology.signals import lowpass, resample

CORNER = (2000.0, 2000.0)  # m, from the corner of the region to the epicentre
SIZE = (10000.0, 12000.0, 5000.0)  # m
LOWEST = 0.2  # Hz, lowest frequency of misfits
SIGMA, ONSET = 0.3, 1.6  # s, of the Gaussian moment rate


def brune(problem: LayeredProblem) -> Table:
    """The published problem's `time_function`."""
    return {"kind": "brune", "rise": problem.rise}


GAUSSIAN: Table = {"kind": "gaussian", "sigma": SIGMA, "delay": ONSET}


def sections(problem: LayeredProblem, time_function: Table) -> Table:
    """Sections of a case without its grid; the region has the edges SIZE."""
    x, y = CORNER
    east, north, _ = problem.receiver
    attenuation: Table = {"model": "none"}
    if problem.reference_frequency:
        attenuation = {"model": "constant", "reference": problem.reference_frequency}
    axes = ("ee", "nn", "dd", "ne", "ed", "nd")
    moment: Table = dict(zip(axes, problem.moment, strict=True))
    place = (x, y, problem.source[2])
    return {
        "time": {"duration": problem.duration},
        "medium": layered_medium(problem.layers),
        "attenuation": attenuation,
        "source": [point(place, time_function, kind="moment-tensor", components=moment)],
        "receiver": receivers([(x + east, y + north, 0.0)]),
        "run": {"precision": "single"},
    }


def gaussian_misfit(problem: LayeredProblem, time: Floats, velocity: Floats) -> float:
    """L2 misfit, %, of velocities (1, 3, n) with GAUSSIAN to wavenumber integration."""
    ground = LayeredHalfSpace(problem.layers, problem.reference_frequency or 1.0)
    source = MomentSource(problem.source[2], problem.moment, Pulse.gaussian(SIGMA, ONSET))
    exact = layered_velocity(ground, source, [problem.receiver], time)
    return 100 * relative_misfit(velocity, exact)


@dataclass(frozen=True)
class Misfits:
    """Misfits of radial, transverse and downward velocity, each (3,).

    Attributes:
        envelope, phase, peak: %.
        delay: of the peak, s.
    """

    envelope: Floats
    phase: Floats
    peak: Floats
    delay: Floats


def published_misfits(name: str, time: Floats, velocity: Floats, highest: float) -> Misfits:
    """Misfits to the published solution below a frequency.

    Args:
        name: "loh1" or "loh3".
        velocity: (1, 3, n), m/s, at `time`, (n,), s.
        highest: corner of the low-pass filter that both pass, Hz.
    """
    times, reference = loh_reference(name)
    wanted = times[times <= time[-1]]
    turned = radial_transverse(velocity[0], PROBLEMS[name].receiver)
    ours = lowpass(resample(time, turned, wanted), STEP, highest)
    exact = lowpass(reference[:, : wanted.size], STEP, highest)
    band = (LOWEST, highest)
    return Misfits(
        100 * envelope_misfit(ours, exact, STEP, band),
        100 * phase_misfit(ours, exact, STEP, band),
        np.asarray(peak_difference(ours, exact)),
        np.asarray(peak_delay(ours, exact, STEP)),
    )
