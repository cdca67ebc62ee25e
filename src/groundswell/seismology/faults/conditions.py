"""Initial conditions at the points of a fault."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from groundswell.arrays import Floats, Indices, Mask
from groundswell.seismology.friction import FrictionLaw


@dataclass(frozen=True, eq=False)
class FaultConditions:
    """Friction, initial stress and nucleation at the points of a fault; arrays (n,), float64.

    The added shear stress is multiplied by G(t) = exp((t - T)^2 / (t (t - 2T))) for 0 < t < T, 0
    before and 1 afterwards, where T is `added_duration` (SCEC TPV101 to TPV104).

    Args:
        law: the friction law.
        normal_stress: effective, compression positive, Pa.
        shear_strike, shear_updip: traction that the hanging wall exerts on the footwall, Pa.
        initial_rate: slip rate, m/s.
        state: initial state of the friction law.
        added_strike, added_updip: additional shear stress of the nucleation, Pa.
        added_duration: time T of its rise, s; 0 without nucleation.
    """

    law: FrictionLaw
    normal_stress: Floats
    shear_strike: Floats
    shear_updip: Floats
    initial_rate: Floats
    state: Floats
    added_strike: Floats
    added_updip: Floats
    added_duration: float

    def take(self, chosen: Indices | Mask) -> FaultConditions:
        """The conditions at some of the points, such as those of a rank."""
        law: Any = self.law
        rows = zip(law.names, law.table(len(self.state)), strict=True)
        arrays = (field.name for field in fields(self)[1:-1])
        return FaultConditions(
            law=replace(law, **{name: row[chosen] for name, row in rows}),
            added_duration=self.added_duration,
            **{name: getattr(self, name)[chosen] for name in arrays},
        )


def loads_of(faults: Sequence[FaultConditions]) -> dict[str, Floats]:
    """Shear stress with the whole nucleation and without slip, at the points of all faults, Pa."""
    return {
        "load_strike": np.concatenate([f.shear_strike + f.added_strike for f in faults]),
        "load_updip": np.concatenate([f.shear_updip + f.added_updip for f in faults]),
    }


def lengths_of(faults: Sequence[FaultConditions]) -> Floats:
    """The slip in which the state of friction evolves, at the points of all faults, m.

    It is infinite for slip weakening, whose state cannot be advanced too far.
    """
    each = [(getattr(fault.law, "length", np.inf), len(fault.state)) for fault in faults]
    return np.concatenate([np.full(points, length, float) for length, points in each])
