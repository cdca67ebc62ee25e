"""Low-storage Runge-Kutta schemes, which need one more copy of the solution and no others.

Williamson, Low-storage Runge-Kutta schemes, J. Comput. Phys. 35:48, 1980.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LowStorageScheme:
    """Scheme for du/dt = f(u, t) with one residual r, which starts at zero.

    Stage i is `r = a[i] r + dt f(u, t + c[i] dt)` and then `u = u + b[i] r`. As a[0] = 0, a step
    depends on u alone.

    Args:
        a: factor of the old residual in each stage.
        b: factor of the residual in the update of the solution.
        c: time of each stage in steps.
    """

    a: tuple[float, ...]
    b: tuple[float, ...]
    c: tuple[float, ...]

    @property
    def stages(self) -> int:
        """Number of stages of a step."""
        return len(self.a)


# Carpenter & Kennedy, Fourth-order 2N-storage Runge-Kutta schemes, NASA TM-109112, 1994: order 4.
# For u' = z u / dt it is stable to |z| = 3.34 on the imaginary axis and 4.65 on the negative real.
CARPENTER_KENNEDY = LowStorageScheme(
    a=(
        0.0,
        -567301805773 / 1357537059087,
        -2404267990393 / 2016746695238,
        -3550918686646 / 2091501179385,
        -1275806237668 / 842570457699,
    ),
    b=(
        1432997174477 / 9575080441755,
        5161836677717 / 13612068292357,
        1720146321549 / 2090206949498,
        3134564353537 / 4481467310338,
        2277821191437 / 14882151754819,
    ),
    c=(
        0.0,
        1432997174477 / 9575080441755,
        2526269341429 / 6820363962896,
        2006345519317 / 3224310063776,
        2802321613138 / 2924317926251,
    ),
)
