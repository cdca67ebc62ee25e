"""Rock that yields: its strength, and the stress in it before the waves.

`drucker_prager` has the same law as `seismology/kernels/drucker_prager.h`, in NumPy. `rock`
evaluates the strength of a case at points, `initial_stress` the stress by depth, and `estimates`
says how near to yield the rock is.
"""

from groundswell.seismology.plasticity.drucker_prager import DruckerPrager
from groundswell.seismology.plasticity.initial_stress import InitialStress, Overburden
from groundswell.seismology.plasticity.rock import RockPoints, strength_at

__all__ = ["DruckerPrager", "InitialStress", "Overburden", "RockPoints", "strength_at"]
