"""The homogeneous medium of closed-form solutions, in a full space or in half-spaces."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class HomogeneousMedium:
    """A homogeneous isotropic elastic solid, or a fluid if vs is 0.

    Attributes:
        vp, vs: wave speeds, m/s.
        rho: density, kg/m^3.
    """

    vp: float
    vs: float
    rho: float

    @property
    def mu(self) -> float:
        """Shear modulus, Pa."""
        return self.rho * self.vs**2

    @property
    def lam(self) -> float:
        """Lame's first parameter, Pa; the bulk modulus of a fluid."""
        return self.rho * self.vp**2 - 2.0 * self.mu

    @property
    def is_fluid(self) -> bool:
        """Whether shear waves do not exist."""
        return self.vs == 0
