"""Initial conditions at the points of a fault."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

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
