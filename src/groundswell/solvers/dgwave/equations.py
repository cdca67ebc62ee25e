"""The acoustic and the elastic equations: fields, and tables of materials and faces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from groundswell.seismology.media.material import Material, lame
from groundswell.solvers.dgwave.attenuation import MaxwellBodies

Floats = NDArray[np.float64]

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
    is_boundary: NDArray[np.bool_]
    reflection: Floats
    upwind: float

    @property
    def flux(self) -> Floats:
        """The `Flux` of each face in the kernels, (elements, faces, 2)."""
        absorbing = self.is_boundary & (self.reflection == ABSORBING)
        return np.stack([self.reflection, np.where(absorbing, 1.0, self.upwind)], axis=-1)


class Equations(Protocol):
    """A set of equations; describes the arrays of the kernels.

    Attributes:
        fields: names, in the order of the kernels.
        trace: number of values at each face node that the other side needs.
        strains: number of strain rates that stress depends on.
        stretched: number of derivatives along an axis that matched layers stretch.
        columns: number of values per node that are differentiated in elements that are not bricks.
        moduli, impedances: numbers of values per node of a material that varies inside elements.
        elastic: whether these are the elastic equations.
    """

    fields: tuple[str, ...]
    trace: int
    strains: int
    stretched: int
    columns: int
    moduli: int
    impedances: int
    elastic: bool

    def jump(self, *, whole: bool) -> int:
        """Number of values of the flux at each face node.

        Args:
            whole: whether velocities and tractions are independent, as with the central flux.
        """

    def materials(self, material: Material, edges: Floats) -> Floats:
        """The `Material` of each element in the kernels, (elements, n).

        Args:
            material: arrays (elements,).
            edges: edge lengths along x, y, z, (elements, 3), m.
        """

    def faces(self, material: Material, sides: FaceSides) -> Floats:
        """The `Face` of each face in the kernels, (elements, faces, n)."""

    def relaxed(self, material: Material, bodies: MaxwellBodies) -> Floats:
        """The `Relaxed` of each mechanism in the kernels, (elements, mechanisms, n).

        Args:
            material: the unrelaxed material, arrays (elements,).
        """

    def moduli_of(self, material: Material) -> Floats:
        """The `Moduli` in the kernels, (n, ...), for a material of arrays (...)."""

    def impedances_of(self, material: Material) -> Floats:
        """The `Impedances` in the kernels, (n, ...), for a material of arrays (...)."""

    def shares(self, bodies: MaxwellBodies) -> Floats:
        """The `Shares` of each mechanism in the kernels, (elements, mechanisms, n)."""


class Acoustic:
    """Pressure and velocity in a fluid: kernels/acoustic.h."""

    fields: tuple[str, ...] = ("p", "vx", "vy", "vz")
    trace, strains, stretched, columns, elastic = 2, 1, 2, 4, False
    moduli, impedances = 2, 1

    def jump(self, *, whole: bool) -> int:
        """See `Equations`."""
        return 2 if whole else 1

    def materials(self, material: Material, edges: Floats) -> Floats:
        """See `Equations`."""
        rho, vp = material.rho, material.vp
        return np.stack([rho * vp**2, 1 / rho, rho * vp, *(2 / edges.T)], axis=-1)

    def faces(self, material: Material, sides: FaceSides) -> Floats:
        """See `Equations`."""
        weight, share = _weights(material.rho * material.vp, sides.beyond.rho * sides.beyond.vp)
        weights = np.stack([weight, share], axis=-1)
        return np.concatenate([weights, sides.flux], axis=-1)

    def relaxed(self, material: Material, bodies: MaxwellBodies) -> Floats:
        """See `Equations`."""
        return ((material.rho * material.vp**2)[:, None] * bodies.p)[..., None]

    def moduli_of(self, material: Material) -> Floats:
        """See `Equations`."""
        return np.stack([material.rho * material.vp**2, 1 / material.rho])

    def impedances_of(self, material: Material) -> Floats:
        """See `Equations`."""
        return np.stack([material.rho * material.vp])

    def shares(self, bodies: MaxwellBodies) -> Floats:
        """See `Equations`."""
        return bodies.p[..., None]


class Elastic:
    """Stress and velocity in a solid or a fluid: kernels/elastic.h."""

    fields: tuple[str, ...] = ("sxx", "syy", "szz", "syz", "sxz", "sxy", "vx", "vy", "vz")
    trace, strains, stretched, columns, elastic = 6, 6, 6, 12, True
    moduli, impedances = 3, 2

    def jump(self, *, whole: bool) -> int:
        """See `Equations`."""
        return 6 if whole else 3

    def materials(self, material: Material, edges: Floats) -> Floats:
        """See `Equations`."""
        (lam, mu), rho = lame(material), material.rho
        zp, zs = rho * material.vp, rho * material.vs
        return np.stack([lam, mu, 1 / rho, zp, zs, *(2 / edges.T)], axis=-1)

    def faces(self, material: Material, sides: FaceSides) -> Floats:
        """See `Equations`."""
        beyond = sides.beyond
        p = _weights(material.rho * material.vp, beyond.rho * beyond.vp)
        s = _weights(material.rho * material.vs, beyond.rho * beyond.vs)
        return np.concatenate([np.stack([*p, *s], axis=-1), sides.flux], axis=-1)

    def relaxed(self, material: Material, bodies: MaxwellBodies) -> Floats:
        """See `Equations`."""
        lam, mu = (modulus[:, None] for modulus in lame(material))
        of_s = mu * bodies.s
        return np.stack([(lam + 2 * mu) * bodies.p - 2 * of_s, of_s], axis=-1)

    def moduli_of(self, material: Material) -> Floats:
        """See `Equations`."""
        return np.stack([*lame(material), 1 / material.rho])

    def impedances_of(self, material: Material) -> Floats:
        """See `Equations`."""
        return np.stack([material.rho * material.vp, material.rho * material.vs])

    def shares(self, bodies: MaxwellBodies) -> Floats:
        """See `Equations`."""
        return np.stack([bodies.p, bodies.s], axis=-1)


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
