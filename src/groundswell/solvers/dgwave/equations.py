"""The acoustic and the elastic equations: fields, and tables of materials and faces."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from groundswell.arrays import Floats, Mask
from groundswell.backends import Constant
from groundswell.backends.named_arguments import members, stack_members
from groundswell.seismology.media.material import Material, lame
from groundswell.solvers.dgwave.attenuation import MaxwellBodies

KERNELS = Path(__file__).parent / "kernels"

FREE_SURFACE, ABSORBING, RIGID = -1.0, 0.0, 1.0  # reflection coefficients of boundaries
REFLECTION = {
    "free-surface": FREE_SURFACE,
    "rigid": RIGID,
    "absorbing": ABSORBING,
    "pml": ABSORBING,  # behind the layer
    "sponge": ABSORBING,
    "periodic": ABSORBING,  # no face has it
}


@dataclass(frozen=True, eq=False)
class FaceSides:
    """Parameters of the flux at the faces of elements, or at the quarters of mortars.

    Args:
        beyond: the material of the other side, or of the element itself at a boundary, arrays
            (elements, faces).
        is_boundary: whether each face is on a boundary, (elements, faces).
        reflection: reflection coefficients of boundaries, (elements, faces); see the constants
            above.
        upwind: 1 for the Riemann flux, 0 for the central flux. Absorbing boundaries always use the
            Riemann flux, because a central flux absorbs nothing.
    """

    beyond: Material
    is_boundary: Mask
    reflection: Floats
    upwind: float

    @property
    def flux(self) -> Floats:
        """The `Flux` of each face in the kernels, (elements, faces, 2)."""
        absorbing = self.is_boundary & (self.reflection == ABSORBING)
        upwind = np.where(absorbing, 1.0, self.upwind)
        return stack_members(
            KERNELS / "equations.h", "Flux", -1, reflection=self.reflection, upwind=upwind
        )


class Equations(ABC):
    """A set of equations; describes the arrays of the kernels.

    Attributes:
        fields: names, in the order of the kernels.
        trace: number of values at each face node that the other side needs.
        jumps: number of values of the flux at each face node with the Riemann flux.
        strains: number of strain rates that stress depends on.
        stretched: number of derivatives along an axis that matched layers stretch.
        columns: number of values per node that are differentiated in elements that are not bricks.
        elastic: whether these are the elastic equations.
        file: the kernel file of these equations.
    """

    fields: tuple[str, ...]
    trace: int
    jumps: int
    strains: int
    stretched: int
    columns: int
    elastic: bool
    file: Path

    @property
    def moduli(self) -> int:
        """Number of moduli per node of a material that varies inside elements."""
        return len(members(self.file, "Moduli"))

    @property
    def impedances(self) -> int:
        """Number of impedances per node of a material that varies inside elements."""
        return len(members(self.file, "Impedances"))

    def jump(self, *, whole: bool) -> int:
        """Number of values of the flux at each face node.

        Args:
            whole: whether velocities and tractions are independent, as with the central flux.
        """
        return self.trace if whole else self.jumps

    def constants(self, has_whole_jumps: bool, is_curved: bool) -> dict[str, Constant]:
        """The sizes of arrays in the kernels."""
        return {
            "ELASTIC": self.elastic,
            "WHOLE_JUMPS": has_whole_jumps,
            "FIELDS": len(self.fields),
            "TRACE": self.trace,
            "JUMP": self.jump(whole=has_whole_jumps),
            "STRAINS": self.strains,
            "STRETCHED": self.stretched,
            "COLUMNS": self.columns if is_curved else len(self.fields),
            "MODULI": self.moduli,
            "IMPEDANCES": self.impedances,
        }

    def materials(self, material: Material, edges: Floats) -> Floats:
        """The `Material` of each element in the kernels, (elements, n).

        Args:
            material: arrays (elements,).
            edges: edge lengths along x, y, z, (elements, 3), m.
        """
        of_material = (*self.moduli_of(material), *self.impedances_of(material))
        return np.stack([*of_material, *(2 / edges.T)], axis=-1)

    def faces(self, material: Material, sides: FaceSides) -> Floats:
        """The `Face` of each face in the kernels, (elements, faces, n)."""
        return np.concatenate([self._weights(material, sides.beyond), sides.flux], axis=-1)

    @abstractmethod
    def relaxed(self, material: Material, bodies: MaxwellBodies) -> Floats:
        """The `Relaxed` of each mechanism in the kernels, (elements, mechanisms, n).

        Args:
            material: the unrelaxed material, arrays (elements,).
        """

    @abstractmethod
    def moduli_of(self, material: Material) -> Floats:
        """The `Moduli` in the kernels, (n, ...), for a material of arrays (...)."""

    @abstractmethod
    def impedances_of(self, material: Material) -> Floats:
        """The `Impedances` in the kernels, (n, ...), for a material of arrays (...)."""

    @abstractmethod
    def shares(self, bodies: MaxwellBodies) -> Floats:
        """The `Shares` of each mechanism in the kernels, (elements, mechanisms, n)."""

    @abstractmethod
    def _weights(self, material: Material, beyond: Material) -> Floats:
        """The `Weights` of each face in the kernels, (elements, faces, n)."""


class Acoustic(Equations):
    """Pressure and velocity in a fluid: kernels/acoustic.h."""

    fields = ("p", "vx", "vy", "vz")
    trace = 2  # pressure and normal velocity
    jumps = 1  # normal velocity
    strains = 1  # the divergence of velocity
    stretched = 2  # terms of the divergence of velocity and of the gradient of pressure
    columns = 4
    elastic = False
    file = KERNELS / "acoustic.h"

    def relaxed(self, material: Material, bodies: MaxwellBodies) -> Floats:
        bulk = (material.rho * material.vp**2)[:, None] * bodies.p
        return stack_members(self.file, "Relaxed", -1, bulk=bulk)

    def moduli_of(self, material: Material) -> Floats:
        bulk, buoyancy = material.rho * material.vp**2, 1 / material.rho
        return stack_members(self.file, "Moduli", 0, bulk=bulk, buoyancy=buoyancy)

    def impedances_of(self, material: Material) -> Floats:
        return stack_members(self.file, "Impedances", 0, z=material.rho * material.vp)

    def shares(self, bodies: MaxwellBodies) -> Floats:
        return stack_members(self.file, "Shares", -1, p=bodies.p)

    def _weights(self, material: Material, beyond: Material) -> Floats:
        weight, share = _weights(material.rho * material.vp, beyond.rho * beyond.vp)
        return stack_members(self.file, "Weights", -1, weight=weight, share=share)


class Elastic(Equations):
    """Stress and velocity in a solid or a fluid: kernels/elastic.h."""

    fields = ("sxx", "syy", "szz", "syz", "sxz", "sxy", "vx", "vy", "vz")
    trace = 6  # traction and velocity
    jumps = 3  # velocity
    strains = 6
    stretched = 6  # of velocity and force
    columns = 12  # velocity, and traction on three planes
    elastic = True
    file = KERNELS / "elastic.h"

    def relaxed(self, material: Material, bodies: MaxwellBodies) -> Floats:
        lam, mu = (modulus[:, None] for modulus in lame(material))
        of_s = mu * bodies.s
        of_p = (lam + 2 * mu) * bodies.p
        return stack_members(self.file, "Relaxed", -1, lam=of_p - 2 * of_s, mu=of_s)

    def moduli_of(self, material: Material) -> Floats:
        (lam, mu), buoyancy = lame(material), 1 / material.rho
        return stack_members(self.file, "Moduli", 0, lam=lam, mu=mu, buoyancy=buoyancy)

    def impedances_of(self, material: Material) -> Floats:
        zp, zs = material.rho * material.vp, material.rho * material.vs
        return stack_members(self.file, "Impedances", 0, zp=zp, zs=zs)

    def shares(self, bodies: MaxwellBodies) -> Floats:
        return stack_members(self.file, "Shares", -1, p=bodies.p, s=bodies.s)

    def _weights(self, material: Material, beyond: Material) -> Floats:
        p_weight, p_share = _weights(material.rho * material.vp, beyond.rho * beyond.vp)
        s_weight, s_share = _weights(material.rho * material.vs, beyond.rho * beyond.vs)
        p, s = (
            {"p_weight": p_weight, "p_share": p_share},
            {"s_weight": s_weight, "s_share": s_share},
        )
        return stack_members(self.file, "Weights", -1, **p, **s)


ACOUSTIC, ELASTIC = Acoustic(), Elastic()


def _weights(own: Floats, other: Floats) -> tuple[Floats, Floats]:
    """1 / (Z- + Z+) and Z+ / (Z- + Z+), (elements, faces); 0 if Z- vanishes: fluids slip.

    Args:
        own: impedances of the elements, (elements,).
        other: impedances beyond their faces, (elements, faces).
    """
    total = own[:, None] + other
    weight = np.divide(1.0, total, out=np.zeros_like(total), where=own[:, None] > 0)
    return weight, other * weight
