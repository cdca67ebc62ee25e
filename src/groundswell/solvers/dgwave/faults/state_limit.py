"""The slip in a time step up to which the Runge-Kutta scheme advances the state of friction."""

from __future__ import annotations

from groundswell.arrays import Floats
from groundswell.errors import Unstable
from groundswell.seismology.faults.state_steps import farthest_steps
from groundswell.solvers.dgwave.faults.model import Faults

# Lengths of the state. The scheme of Carpenter & Kennedy amplifies an exponential decay from 4.657
# times its rate on.
STATE_LIMIT = 4.65


def require_stable_state(faults: Faults, rates: Floats, dt: float) -> None:
    """Check that no point has slipped farther in a step.

    Args:
        rates: largest slip rates at the points of all faults, m/s; those of other ranks are 0.
        dt: time step, s.

    Raises:
        Unstable: one has; the state of friction is wrong from then on.
    """
    for step in farthest_steps(faults.named_points, rates, faults.lengths, dt):
        if step.count > STATE_LIMIT:
            raise Unstable(
                f"{step.description}; the state of friction is unstable with more than "
                f"{STATE_LIMIT:g}, so that results are wrong: {step.cure}"
            )
