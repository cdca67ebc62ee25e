"""Airguns: sources of volume in water.

A volume V(t) that grows at a point of a fluid at rest radiates the pressure
p = rho / (4 pi r) d2V/dt2(t - r/c) into an unbounded one (Landau & Lifshitz, Fluid Mechanics, 2nd
edition, section 74). It acts as an isotropic moment K V, with the bulk modulus K = rho c^2.
"""

from __future__ import annotations

from math import pi

import numpy as np

from groundswell.arrays import Floats
from groundswell.errors import InputError
from groundswell.seismology.case.sources import Airgun
from groundswell.seismology.sources import moment as tensors
from groundswell.seismology.sources.point_sources import (
    AT_VELOCITIES,
    PointSource,
    SourceContext,
    first_sample,
    sample,
)
from groundswell.seismology.sources.time_functions import TimeFunction


def airgun_source(section: Airgun, context: SourceContext) -> PointSource:
    """The point source of an airgun.

    Raises:
        InputError: it lies in a solid, starts after the run ends, or is too short for the time
            step.
    """
    position = context.position(section)
    medium = (context.rigidity, context.lame, context.density)
    mu, bulk, rho = (float(np.ravel(of(*position))[0]) for of in medium)
    if mu:
        x, y, z = position
        raise InputError(
            f"an airgun must be in water, but the medium is solid at x = {x:.6g} m, y = {y:.6g} m, "
            f"depth = {z:.6g} m; move it, or use an explosion"
        )
    if section.volume is not None:
        size = section.volume
        start, samples = sample(
            section.time_function, context, TimeFunction.__call__, AT_VELOCITIES
        )
    else:
        assert section.strength is not None  # one of the two is given
        size = 4 * pi * section.strength / rho
        start, samples = _integral(section.time_function, context)
    return PointSource(position, tensors.explosion(bulk * size), None, start, context.step, samples)


def _integral(function: TimeFunction, context: SourceContext) -> tuple[float, Floats]:
    """The time of the first sample, and the running integral of the amplitude, in s.

    It goes on to the end of the run, because it need not end at zero.
    """
    step = context.step
    first = first_sample(function, context, AT_VELOCITIES)
    times = step * np.arange(first, np.ceil(context.duration / step) + 1)
    middle = function.amplitude(times[:-1] + step / 2)
    ends = function.amplitude(times)
    simpson = step / 6 * (ends[:-1] + 4 * middle + ends[1:])
    return float(times[0]), np.concatenate([[0.0], np.cumsum(simpson)])
