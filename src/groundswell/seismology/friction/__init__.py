"""Friction of faults that break by themselves: strength, slip rate and evolution of the state.

The same laws as `seismology/kernels/friction.h`, in NumPy: `slip_weakening`, and the laws of rate
and state in `rate_and_state`, with their inversion in `regularised`. `law` is what all have in
common.
"""

from groundswell.seismology.friction.law import FrictionLaw
from groundswell.seismology.friction.rate_and_state import FastWeakening, RateAndState
from groundswell.seismology.friction.slip_weakening import SlipWeakening

__all__ = ["FastWeakening", "FrictionLaw", "RateAndState", "SlipWeakening"]
