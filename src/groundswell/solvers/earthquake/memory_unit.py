"""The unit of memory variables in 16 bits, a power of two, from an upper bound of their values.

IEEE binary16 has 11 bits for values from 6e-5 to 65,504, so the unit must fit the largest memory
variable of a run. It follows from the sources, since a run has no results yet.

**One source in a homogeneous elastic solid.** A moment rate M g(t) in a cell of volume V obeys
u' = L u - M g / V, where u has the velocities and stresses. L is antisymmetric in the scalar
product of the energy, in the discrete scheme as well. The rate w = u' obeys w' = L w - M g' / V,
so its energy norm is at most the integral of that of M g' / V. With |M| the Frobenius norm, the
norm of M is at most |M| / sqrt(2 mu), and that of a stress rate s at one point is at least
|s| / sqrt(E), with Young's modulus E <= 3 mu:

    |stress rate| <= sqrt(3/2) (|M| / V) integral |g'| dt.

The integral is twice the peak of g if g rises and falls once. The elastic part of the stress rate,
which drives memory variables, exceeds this by at most the peak of |M| g / V. Both together are
3.5 P with P = |M| max |g| / V. In a fluid, where M is isotropic, the factor sqrt(3/2) is sqrt(1/3).

**Other sources and media.** Sources in a cell add up: P is the largest sum of a cell. Cubic
interpolation distributes each source among cells, which makes the drive several times smaller. This
compensates for what the bound above leaves out: waves from other sources, the stress of up to twice
that of the wave which enters stiffer material, and different weights of P and S waves. We use
SAFETY P with SAFETY = 4.

**Forces.** By the same argument, a force F is equivalent to the moment rate F c, where c is the P
speed, or 2 F c at a free surface, where the cells of vz are half as high.

**Memory variables.** r1 = A r0 - (1 - A) w d / 2, with the drive d and a weight w, is a mean of r0
and w d / 2 if A >= 0. Otherwise it is larger, by a factor of at most dt / (2 tau). Therefore

    |r| <= SAFETY P max(w) / 2 max(1, dt / (2 tau)).

The unit is the smallest power of two for which this is at most 65,504. In tests, moments reach 1/20
to 1/150 of it, depending on their place in a cell, ruptures 1/20 to 1/40, and forces 1/90 to
1/1000. The smallest normal number is therefore 2e-8 to 1e-6 of the largest memory variable, and the
smallest number of all a thousandth of that. A value beyond the range becomes infinite, and the
search for values that are not finite ends the run.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from math import ceil, log2, prod

import numpy as np

from groundswell.errors import InputError
from groundswell.seismology.sources.point_sources import PointSource
from groundswell.solvers.earthquake.ground import Ground

HALF_MEMORY_ERROR = 1e-4  # of the largest motion of a receiver, from memory variables in 16 bits
LARGEST = 65504.0  # number in binary16
SAFETY = 4.0
EXPONENTS = (-100, 100)  # of units that single precision can multiply by, and by their inverse


def memory_unit(ground: Ground, sources: Sequence[PointSource], dt: float) -> float:
    """The unit of memory variables, a power of two, Pa/s.

    Args:
        ground: with attenuation.
        sources: all that act in it.
        dt: time step, s.

    Raises:
        InputError: the sources are too weak or too strong to derive a unit.
    """
    relaxation, statistics = ground.relaxation, ground.statistics
    assert relaxation is not None
    least = min(q for q in (statistics.qp_min, statistics.qs_min) if q is not None)
    weight = float(relaxation.weights(np.linspace(0, 1 / least)).max())
    growth = max(1.0, dt / (2 * float(relaxation.tau.min())))
    bound = SAFETY * largest_drive(ground, sources) * weight / 2 * growth
    if not 2.0 ** EXPONENTS[0] < bound / LARGEST < 2.0 ** EXPONENTS[1]:
        raise InputError(
            f'run.memory = "half" needs sources whose strength tells that of the waves, and these '
            f'have memory variables of up to {bound:.3g} Pa/s; set run.memory = "full"'
        )
    return 2.0 ** ceil(log2(bound / LARGEST))


def largest_drive(ground: Ground, sources: Sequence[PointSource]) -> float:
    """The largest sum of moment rates in a cell over its volume: P above, Pa/s."""
    spacing, totals = np.array(ground.grid.spacing), defaultdict[tuple[int, ...], float](float)
    for source in sources:
        cell = tuple(np.floor(np.array(source.position) / spacing).astype(int).tolist())
        totals[cell] += _moment_rate(source, ground.max_wave_speed)
    return max(totals.values(), default=0.0) / prod(ground.grid.spacing)


def _moment_rate(source: PointSource, speed: float) -> float:
    """The largest moment rate of a source, or that which equals its force, N m/s."""
    peak = float(np.abs(source.samples).max(initial=0.0))
    total = 0.0
    if source.moment is not None:
        xx, yy, zz, xy, xz, yz = source.moment
        total += float(np.sqrt(xx**2 + yy**2 + zz**2 + 2 * (xy**2 + xz**2 + yz**2)))
    if source.force is not None:
        total += 2 * speed * float(np.linalg.norm(source.force))  # cells of vz may be half as high
    return peak * total
