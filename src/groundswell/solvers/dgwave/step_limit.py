"""What limits the time step: waves in an element, or decay in layers or by attenuation."""

from __future__ import annotations

from dataclasses import dataclass
from math import pi

import numpy as np

from groundswell.arrays import Mask
from groundswell.grids.cartesian import format_extent
from groundswell.seismology.case.media import Attenuation, NoAttenuation
from groundswell.seismology.time_steps import StableSteps
from groundswell.solvers.dgwave.attenuation import fastest_relaxation, largest_decay
from groundswell.solvers.dgwave.case import DgWaveCase
from groundswell.solvers.dgwave.materials.anelastic import Materials
from groundswell.time_integration.step_limits import UNDAMPED_SHARE, decay_step, dg_step

ROUNDING = 1e-9  # relative, of the steps of equal elements


@dataclass(frozen=True)
class StepLimit:
    """The longest stable time step.

    Args:
        seconds: the step, s.
        cause: what limits it most.
        cure: a change that lengthens it.
    """

    seconds: float
    cause: str
    cure: str

    @property
    def stable(self) -> StableSteps:
        """Which steps are stable, with the end of the message that a step is not."""
        remedy = f'shorten it or use "auto"; for longer steps, {self.cure}'
        return StableSteps(self.seconds, f"because of {self.cause}; {remedy}")


def limit_steps(case: DgWaveCase, materials: Materials, absorbed: float) -> StepLimit:
    """The limit of a case; see `dg_step` and `decay_step`.

    Where several rates of decay add up, the largest one is the cause.

    Args:
        absorbed: the largest rate of decay in absorbing layers, 1/s.
    """
    attenuated = largest_decay(materials.relaxation, materials.statistics)
    relaxation = fastest_relaxation(materials.relaxation)
    decay = absorbed + attenuated
    method, edges = case.method, materials.elements.geometry.edges
    undamped = dg_step(edges, materials.fastest, method.degree, method.flux)
    steps = dg_step(edges, materials.fastest, method.degree, method.flux, decay)
    element, relaxed = int(steps.argmin()), decay_step(decay + relaxation)
    seconds = float(min(steps[element], relaxed))
    if relaxed >= steps[element]:
        relaxation = 0.0
        if decay_step(decay) * UNDAMPED_SHARE >= undamped[element]:
            limits = steps <= steps[element] * (1 + ROUNDING)
            return StepLimit(seconds, *_waves(materials, limits))
    if attenuated + relaxation > absorbed:
        frequency = fastest_relaxation(materials.relaxation)
        return StepLimit(seconds, *_attenuation(frequency, case.attenuation))
    return StepLimit(seconds, *_layers(absorbed))


def _waves(materials: Materials, limits: Mask) -> tuple[str, str]:
    """Cause and cure where waves cross elements too fast for longer steps.

    Args:
        limits: whether each element limits the step, (elements,).
    """
    geometry, fastest = materials.elements.geometry, materials.fastest
    examples, is_everywhere = geometry.outside_layers(np.flatnonzero(limits)), bool(limits.all())
    element = int(examples[len(examples) // 2])
    edges = [float(f"{edge:.4g}") for edge in geometry.edges[element]]
    size = f"{edges[0]:g}" if len(set(edges)) == 1 else format_extent(edges)
    speed = f"waves of {fastest[element]:,.5g} m/s" + " at a node" * materials.is_nodal
    there = f"the element around {geometry.describe(element)}"
    where = "all elements" if is_everywhere else there
    cure = "use longer elements" + " there" * (not is_everywhere) + ", or lower method.degree"
    return f"{where} ({size} m, {speed})", cure


def _attenuation(relaxation: float, section: Attenuation) -> tuple[str, str]:
    """Cause and cure where attenuation relaxes or damps faster than waves cross elements.

    Args:
        relaxation: the largest relaxation frequency, 1/s.
        section: `[attenuation]`.
    """
    assert not isinstance(section, NoAttenuation)
    frequency, top = relaxation / (2 * pi), max(section.band)
    cause = f"attenuation up to {top:g} Hz (fastest mechanism: {frequency:,.4g} Hz)"
    return cause, "lower the highest frequency of attenuation.band"


def _layers(decay: float) -> tuple[str, str]:
    """Cause and cure where the damping of absorbing layers limits the step."""
    cause = f"the damping of absorbing layers (up to {decay:,.4g} 1/s)"
    return cause, "widen the absorbing layers"
