"""Whether the stress on a fault is that of the yielding rock around it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from groundswell.seismology.faults.conditions import FaultConditions
from groundswell.seismology.faults.points import FaultPoints
from groundswell.seismology.plasticity.initial_stress import InitialStress

ALIKE = 0.02  # difference over the normal stress up to which stresses count as the same
_ROWS = [[0, 3, 4], [3, 1, 5], [4, 5, 2]]  # of the tensor, in xx, yy, zz, xy, xz, yz


def fault_stress_warnings(
    label: str, points: FaultPoints, conditions: FaultConditions, rock: InitialStress
) -> Iterator[str]:
    """Yield a warning if the stress of the rock acts otherwise on most of a fault.

    Patches where a rupture starts may differ.

    Args:
        label: of the fault, see `fault_label`.
        conditions: stress on it.
        rock: stress in the rock.
    """
    depth = points.position[:, 2]
    traction = np.einsum("ijn,nj->ni", rock.at(depth)[_ROWS], points.normal)
    normal, strike, updip = (
        np.sum(traction * axis, axis=1) for axis in (points.normal, points.strike, points.updip)
    )
    differences = (
        -normal - rock.fluid_pressure(depth) - conditions.normal_stress,
        strike - conditions.shear_strike,
        updip - conditions.shear_updip,
    )
    difference = np.sqrt(sum(part**2 for part in differences))
    median = float(np.median(difference / np.maximum(np.abs(conditions.normal_stress), 1.0)))
    if median > ALIKE:
        yield (
            f"the stress on {label} differs from that of the yielding rock around it, at half "
            f"of its points by more than {100 * median:.3g} % of the normal stress; give "
            "plasticity.stress and the fault the same tensor and fluid pressure"
        )
