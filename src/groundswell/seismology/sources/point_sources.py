"""Point sources: position, moment tensor or force, and sampled time function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import floor, inf

import numpy as np
from numpy.typing import ArrayLike

from groundswell.arrays import Floats
from groundswell.errors import InputError
from groundswell.grids.axis import Spacing
from groundswell.grids.geography import Geography
from groundswell.seismology.case.sources import (
    DoubleCouple,
    Explosion,
    MomentTensor,
    PointForce,
    PointSourceSection,
    SizedSource,
)
from groundswell.seismology.sources import moment as tensors
from groundswell.seismology.sources.time_functions import TimeFunction

Property = Callable[..., ArrayLike]  # of the medium at positions x, y, z in m, arrays (n,)
MomentSection = DoubleCouple | Explosion | MomentTensor

# Sampling times in steps: moments enter stress updates, which are centred on the times of the
# velocities; forces enter velocity updates, which are centred on the times of the stresses.
AT_VELOCITIES, AT_STRESSES = 0.0, 0.5
TAIL = 1e-3  # of the largest amplitude of a source; what follows hardly moves the ground
_MOST_SAMPLES = 1e7  # sources of more steps are resolved; a check would need much memory
_MAX_MOMENT_ERROR = 0.01  # error of the integral of the samples, relative to the moment


@dataclass(frozen=True, eq=False)
class PointSource:
    """A moment tensor or a force at a point.

    Args:
        position: (x, y, z) from the corner of the region, m.
        moment: moment tensor (6,), N m, as (xx, yy, zz, xy, xz, yz); multiplies the moment rate
            (1/s) in `samples`; or None.
        force: force (3,), N, as (x, y, z down); multiplies the dimensionless amplitude in
            `samples`; or None.
        start, step: time of the first sample and between samples, s.
        samples: the time function; linear between the samples, zero outside.
        number: number of its subfault, or of its point in an AWP file, from 1.
    """

    position: tuple[float, float, float]
    moment: Floats | None
    force: Floats | None
    start: float
    step: float
    samples: Floats
    number: int = 1


@dataclass(frozen=True)
class SourceContext:
    """Properties of a case and its grid that point sources depend on.

    Args:
        geography: maps longitudes and latitudes to the grid; None if the case has none.
        step: time step of the solver, s. Analytic time functions are sampled at the times of the
            updates that they enter.
        duration: time at which the run ends, s, where analytic time functions are cut off.
        spacing: edges of the cells along x, y and z, m, for AWP files, whose positions are indices.
        rigidity, lame, density: mu and lambda, Pa, and rho, kg/m^3, at positions, for rupture files
            that do not give mu, or with opening, and for airguns.
    """

    geography: Geography | None
    step: float
    duration: float
    spacing: Sequence[Spacing]
    rigidity: Property
    lame: Property
    density: Property

    @property
    def azimuth(self) -> float:
        """Of the y axis, degrees; 0 without a geography."""
        return self.geography.true_azimuth if self.geography else 0.0

    def position(self, section: PointSourceSection) -> tuple[float, float, float]:
        """Position (x, y, depth) of a source, m."""
        x, y = section.horizontal
        if section.geographic:
            assert self.geography is not None  # as the case has been validated
            x, y = map(float, self.geography.to_grid(x, y))
        return x, y, section.depth


def final_moments(sources: Sequence[PointSource]) -> Floats:
    """Final moment tensor of each source, (n, 6), N m; zero for forces."""
    unit = np.array([np.zeros(6) if s.moment is None else s.moment for s in sources])
    integrals = np.array([s.step * s.samples.sum() for s in sources])
    return unit.reshape(-1, 6) * integrals[:, None]


def total_moments(sources: Sequence[PointSource]) -> Floats:
    """Time integral of the absolute moment rate of each source, N m, (n,); zero for forces."""
    unit = np.array([np.zeros(6) if s.moment is None else s.moment for s in sources])
    integrals = np.array([s.step * np.abs(s.samples).sum() for s in sources])
    return tensors.scalar_moment(unit.reshape(-1, 6)) * integrals


def end_of(sources: Sequence[PointSource]) -> float:
    """Time after which no source has more than a fraction TAIL of its largest amplitude, s."""
    return max((_end(source) for source in sources), default=-inf)


def _end(source: PointSource) -> float:
    sizes = np.abs(source.samples)
    active = np.flatnonzero(sizes > TAIL * sizes.max(initial=0.0))
    return source.start + source.step * int(active.max(initial=0) + 1)


def moment_source(section: MomentSection, context: SourceContext) -> PointSource:
    """The point source of a section with a moment.

    Raises:
        InputError: the source starts after the run ends, or is too short for the time step.
    """
    moment = _moment_tensor(section, context.azimuth)
    function = section.time_function
    start, samples = sample(function, context, TimeFunction.__call__, AT_VELOCITIES)
    return PointSource(context.position(section), moment, None, start, context.step, samples)


def force_source(section: PointForce, context: SourceContext) -> PointSource:
    """The point source of a force.

    Raises:
        InputError: the source starts after the run ends, or is too short for the time step.
    """
    force, function = np.array(section.force, dtype=float), section.time_function
    start, samples = sample(function, context, TimeFunction.amplitude, AT_STRESSES)
    return PointSource(context.position(section), None, force, start, context.step, samples)


def sample(
    function: TimeFunction,
    context: SourceContext,
    evaluate: Callable[[TimeFunction, ArrayLike], Floats],
    offset: float,
) -> tuple[float, Floats]:
    """The time of the first sample, and samples taken `offset` steps after the solver's steps.

    Raises:
        InputError: the source starts after the run ends, or is too short for the time step.
    """
    step, duration = context.step, context.duration
    first = first_sample(function, context, offset)
    times = _times(step, first, min(function.end, duration))
    times = times[times < duration]
    return float(times[0]), evaluate(function, times)


def first_sample(function: TimeFunction, context: SourceContext, offset: float) -> float:
    """The time of the first sample in steps; see `sample`, also for errors."""
    step, duration = context.step, context.duration
    first = floor(function.start / step) + offset
    if first * step >= duration:
        raise InputError(
            f"starts at {function.start:g} s, but the run ends at {duration:g} s;"
            " lengthen the run or start the source earlier"
        )
    if function.support < _MOST_SAMPLES * step:
        _require_resolved(function, step, first)
    return first


def _times(step: float, first: float, end: float) -> Floats:
    """Times of samples from step number `first` to the first step after `end`, s."""
    return step * np.arange(first, np.ceil(end / step) + 1)


def _require_resolved(function: TimeFunction, step: float, first: float) -> None:
    """Check that the samples from step `first` on integrate to the moment, to 1 %.

    Raises:
        InputError: they do not.
    """
    total = step * float(np.sum(function(_times(step, first, function.end))))
    error = abs(total - function.integral) / max(1.0, abs(function.integral))
    if error > _MAX_MOMENT_ERROR:
        wrong = f"{100 * error:.0f} %" if error < 1 else f"a factor of {1 + error:.2g}"
        raise InputError(
            f"a {type(function).__name__.lower()} source of {function.support:g} s is too short"
            f" for time steps of {step:g} s: its moment would be wrong by {wrong};"
            " lengthen it or shorten the step"
        )


def _moment_tensor(section: MomentSection, azimuth: float) -> Floats:
    """The moment tensor in the frame of the grid, (6,), N m."""
    match section:
        case DoubleCouple(strike=strike, dip=dip, rake=rake):
            return tensors.double_couple(strike, dip, rake, _scalar_moment(section), azimuth)
        case Explosion():
            return tensors.explosion(_scalar_moment(section))
        case _:
            components = section.components.model_dump(exclude_none=True)
            convert = tensors.from_rtp if "rr" in components else tensors.from_ned
            return convert(components.values(), azimuth)


def _scalar_moment(section: SizedSource) -> float:
    if section.moment is not None:
        return section.moment
    assert section.magnitude is not None  # one of the two is given
    return tensors.moment_from_magnitude(section.magnitude)
