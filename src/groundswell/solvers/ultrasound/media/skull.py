"""Acoustic properties of skull bone from X-ray computed tomography (CT).

A CT number H gives the porosity of bone whose pores contain water:

    psi = 1 - H / H_bone,

limited to 0 <= psi <= 1. H_bone is the CT number of bone without pores. In the article it is 1000,
because its CT numbers are scaled to bone, H = 1000 (mu - mu_water) / (mu_bone - mu_water) with the
X-ray attenuation mu. In Hounsfield units, it depends on the tube voltage and the reconstruction
kernel of the scanner, and is often 1300 to 2200. Density, sound speed and absorption follow from
the porosity:

    rho   = psi rho_water + (1 - psi) rho_bone,
    c     = psi c_water   + (1 - psi) c_bone,
    alpha = alpha_min + (alpha_max - alpha_min) psi^(1/2)

(Aubry, Tanter, Pernot, Thomas & Fink 2003, J. Acoust. Soc. Am. 113, 84-93). The absorption includes
losses by scattering in pores, so it increases with porosity. The formulas hold only in bone, where
H reaches a threshold: in water, they would give the largest absorption.
"""

from __future__ import annotations

import numpy as np

from groundswell.arrays import Reals
from groundswell.solvers.ultrasound.media.case import SkullSection


def porosity(hounsfield: Reals, bone_hounsfield: float) -> Reals:
    """Porosity psi of bone from its CT numbers; bone without pores has `bone_hounsfield`."""
    return np.asarray(np.clip(1 - hounsfield / bone_hounsfield, 0, 1))


def bone_properties(hounsfield: Reals, skull: SkullSection) -> dict[str, Reals]:
    """Properties of bone by name.

    Args:
        hounsfield: CT numbers, Hounsfield units.
        skull: the parameters.

    Returns:
        speed (m/s), density (kg/m^3) and absorption (dB/(MHz^y cm)), in the shape of `hounsfield`.
    """
    psi = porosity(hounsfield, skull.bone_hounsfield)
    least, most = skull.absorption
    return {
        "speed": psi * skull.water_speed + (1 - psi) * skull.bone_speed,
        "density": psi * skull.water_density + (1 - psi) * skull.bone_density,
        "absorption": least + (most - least) * np.sqrt(psi),
    }
