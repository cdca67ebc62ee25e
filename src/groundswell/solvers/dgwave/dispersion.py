"""Errors of plane waves on elements: their speed, and the amplitude that they lose.

In a uniform medium a plane wave along an axis of the elements is one of the characteristics, which
the scheme advects one by one. The values of a wave in two adjacent elements differ by a phase
factor, so the scheme is one matrix of an element, whose eigenvalue nearest to the exact one is the
wave (Ainsworth, J. Comput. Phys. 198:106, 2004). Time is continuous: the errors of the steps are
far smaller.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from groundswell.meshes.gll import gll


@cache
def plane_wave_errors(degree: int, points: float, upwind: float = 1.0) -> tuple[float, float]:
    """Relative error of the speed, and relative loss of amplitude per wavelength.

    Args:
        degree: of the elements, N.
        points: per wavelength: N times the wavelength over the edge of an element.
        upwind: weight of the Riemann flux; 0 is the central flux.
    """
    nodes, phase = gll(degree), 2 * np.pi * degree / points  # of an element
    rates = -2.0 * nodes.derivative.astype(complex)
    # The flux of each end lifts (1 +- upwind) / 2 of the jump to the neighbour into the end node.
    for end, other, weight, turn in ((0, -1, 1 + upwind, -1j), (-1, 0, upwind - 1, 1j)):
        lift = weight / nodes.weights[0]
        rates[end, end] -= lift
        rates[end, other] += lift * np.exp(turn * phase)
    exact = -1j * phase
    eigenvalues = np.linalg.eigvals(rates)
    found = eigenvalues[np.abs(eigenvalues - exact).argmin()]
    speed, decay = found.imag / exact.imag - 1, found.real / phase
    return float(speed), float(-np.expm1(2 * np.pi * decay))


def describe_errors(speed: float, loss: float) -> str:
    """The errors of the slowest waves as text."""
    late = "slow" if speed < 0 else "fast"
    return (
        f"the slowest waves are {100 * abs(speed):.2g} % too {late} and lose {100 * loss:.2g} % of "
        "their amplitude per wavelength"
    )
