"""Rock and soil that yield: their strength, and the stress in rock before the waves.

`drucker_prager` has the same law as `seismology/kernels/drucker_prager.h`, in NumPy. `rock`
evaluates the strength of a case at points, `initial_stress` the stress by depth, and `estimates`
says how near to yield the rock is.

`backbone` fits elements to the modulus-reduction curve of soft soil. `iwan` computes their stress
as `seismology/kernels/iwan.h` does. `soil` evaluates the curves of a case, and `soil_estimates`
says what `check` shows of them.
"""

from groundswell.seismology.plasticity.backbone import Elements, Hyperbola, MeasuredCurve
from groundswell.seismology.plasticity.drucker_prager import DruckerPrager
from groundswell.seismology.plasticity.initial_stress import InitialStress, Overburden
from groundswell.seismology.plasticity.iwan import IwanSoil
from groundswell.seismology.plasticity.rock import RockPoints, strength_at

__all__ = [
    "DruckerPrager",
    "Elements",
    "Hyperbola",
    "InitialStress",
    "IwanSoil",
    "MeasuredCurve",
    "Overburden",
    "RockPoints",
    "strength_at",
]
