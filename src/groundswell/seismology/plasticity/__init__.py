"""Rock and soil that yield, in NumPy.

Soft soil: `backbone` fits elements to a modulus-reduction curve, `iwan` computes their stress.
"""

from groundswell.seismology.plasticity.backbone import Elements, Hyperbola, MeasuredCurve
from groundswell.seismology.plasticity.iwan import IwanSoil

__all__ = ["Elements", "Hyperbola", "IwanSoil", "MeasuredCurve"]
