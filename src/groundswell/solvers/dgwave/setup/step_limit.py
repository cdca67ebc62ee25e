"""What limits the time step: waves in an element, or decay in layers or by attenuation."""

from __future__ import annotations

from dataclasses import dataclass
from math import pi
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from groundswell.grids.cartesian import format_extent
from groundswell.solvers.dgwave.attenuation import fastest_relaxation, largest_decay
from groundswell.solvers.dgwave.places import in_region, position
from groundswell.time_integration.step_limits import UNDAMPED_SHARE, decay_step, dg_step

if TYPE_CHECKING:
    from groundswell.solvers.dgwave.setup import Setup

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

    @classmethod
    def of(cls, setup: Setup) -> StepLimit:
        """The limit of a set-up; see `dg_step` and `decay_step`.

        Where several rates of decay add up, the largest one is the cause.
        """
        attenuated = largest_decay(setup.relaxation, setup.statistics)
        relaxation = fastest_relaxation(setup.relaxation)
        decay = setup.decay + attenuated
        method, edges = setup.case.method, setup.edges
        undamped = dg_step(edges, setup.fastest, method.degree, method.flux)
        steps = dg_step(edges, setup.fastest, method.degree, method.flux, decay)
        element, relaxed = int(steps.argmin()), decay_step(decay + relaxation)
        seconds = float(min(steps[element], relaxed))
        if relaxed >= steps[element]:
            relaxation = 0.0
            if decay_step(decay) * UNDAMPED_SHARE >= undamped[element]:
                return cls(seconds, *_waves(setup, steps <= steps[element] * (1 + ROUNDING)))
        is_attenuation = attenuated + relaxation > setup.decay
        return cls(seconds, *(_attenuation if is_attenuation else _layers)(setup))


def _waves(setup: Setup, limits: NDArray[np.bool_]) -> tuple[str, str]:
    """Cause and cure where waves cross elements too fast for longer steps.

    Args:
        limits: whether each element limits the step, (elements,).
    """
    examples, is_everywhere = in_region(setup, np.flatnonzero(limits)), bool(limits.all())
    element = int(examples[len(examples) // 2])
    edges = [float(f"{edge:.4g}") for edge in setup.edges[element]]
    size = f"{edges[0]:g}" if len(set(edges)) == 1 else format_extent(edges)
    speed = f"waves of {setup.fastest[element]:,.5g} m/s" + " at a node" * setup.is_nodal
    where = "all elements" if is_everywhere else f"the element around {position(setup, element)}"
    cure = "use longer elements" + " there" * (not is_everywhere) + ", or lower method.degree"
    return f"{where} ({size} m, {speed})", cure


def _attenuation(setup: Setup) -> tuple[str, str]:
    """Cause and cure where attenuation relaxes or damps faster than waves cross elements."""
    frequency = fastest_relaxation(setup.relaxation) / (2 * pi)
    top = max(setup.case.attenuation.band)
    cause = f"attenuation up to {top:g} Hz (fastest mechanism: {frequency:,.4g} Hz)"
    return cause, "lower the highest frequency of attenuation.band"


def _layers(setup: Setup) -> tuple[str, str]:
    """Cause and cure where the damping of absorbing layers limits the step."""
    cause = f"the damping of absorbing layers (up to {setup.decay:,.4g} 1/s)"
    return cause, "widen the absorbing layers"
