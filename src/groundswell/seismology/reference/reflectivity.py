"""Motion in layers at one frequency and each horizontal wavenumber k, by reflection matrices.

The motion-stress vectors

    P-SV: (U, V, P / k, S / k),    SH: (W, T / k)

hold the vertical, radial and transverse displacement and the stresses zz, rz and tz. In a layer
they are superpositions of upgoing and downgoing waves: P and SV, and SH; in a fluid P only. They
jump at the source. Reflection matrices carry the boundary conditions from the surface and from the
half-space to the source (Kennett 1983, Seismic Wave Propagation in Stratified Media). All
exponentials decay, so the method is stable for thick layers and high frequencies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from groundswell.arrays import Floats
from groundswell.seismology.media.layered import Layer
from groundswell.seismology.reference.plane_waves import Complex


@dataclass(frozen=True)
class HarmonicLayer:
    """A layer at one frequency; speeds are complex if it is anelastic, 0 for missing waves."""

    vp: complex
    vs: complex
    rho: float
    thickness: float

    @classmethod
    def of(cls, layer: Layer, thickness: float, ratio: complex) -> HarmonicLayer:
        """A layer at `ratio` times the reference frequency (Kjartansson 1979)."""

        def speed(value: float, q: float | None) -> complex:
            if q is None:
                return value
            gamma = np.arctan(1.0 / q) / np.pi
            return value * np.cos(np.pi * gamma / 2.0) * (1j * ratio) ** gamma

        return cls(speed(layer.vp, layer.qp), speed(layer.vs, layer.qs), layer.rho, thickness)

    def is_like(self, other: HarmonicLayer) -> bool:
        """Whether both layers have the same material."""
        return (self.vp, self.vs, self.rho) == (other.vp, other.vs, other.rho)


VACUUM = HarmonicLayer(0.0, 0.0, 0.0, 0.0)


def motion_stress(
    layers: Sequence[HarmonicLayer],
    source: float,
    receiver: float,
    moment: Floats,
    k: Floats,
    omega: complex,
) -> Complex:
    """P-SV and SH vectors for azimuthal orders m = 0, 1, 2, (wavenumbers, 6, 3).

    The factors i^m of the Hankel transform are included; the radiation pattern (N m) is for order 0
    only.

    Args:
        layers: below a vacuum; the last is a half-space.
        source, receiver: depths, m, which must differ. On an interface, the lower layer counts.
        moment: matrix (3, 3), N m; isotropic in a fluid.
        k: horizontal wavenumbers, 1/m.
        omega: angular frequency, rad/s, with a negative imaginary part.
    """
    sign = 1 if receiver < source else -1
    *path, other = _paths(layers, source, receiver)
    found = []
    for waves, jump in zip((_p_sv, _sh), _jumps(other[-1], moment), strict=True):
        outer, inner = ([waves(layer, k, omega, sign) for layer in part] for part in path)
        opposite = [waves(layer, k, omega, -sign) for layer in other]
        found.append(_at_receiver(outer, inner, opposite, -sign * jump))
    return np.concatenate(found, axis=1)


# --- layers and sources ---------------------------------------------------------------------------


def _paths(
    layers: Sequence[HarmonicLayer], source: float, receiver: float
) -> tuple[list[HarmonicLayer], list[HarmonicLayer], list[HarmonicLayer]]:
    """The layers beyond the receiver, between receiver and source, and beyond the source.

    Each list ends next to the source; the vacuum or the half-space comes first.
    """
    above, below = _split(layers, source)
    if receiver < source:
        beyond, between = _split(above, receiver)
        return [VACUUM, *beyond], between, below[::-1]
    between, beyond = _split(below, receiver - source)
    return beyond[::-1], between[::-1], [VACUUM, *above]


def _split(
    layers: Sequence[HarmonicLayer], depth: float
) -> tuple[list[HarmonicLayer], list[HarmonicLayer]]:
    """The layers above and below `depth`; the layer that contains it is split in two parts."""
    bottoms = np.cumsum([layer.thickness for layer in layers])
    n = min(int(np.searchsorted(bottoms, depth, side="right")), len(layers) - 1)
    lower = replace(layers[n], thickness=bottoms[n] - depth)
    upper = replace(layers[n], thickness=depth - (bottoms[n - 1] if n else 0.0))
    return [*layers[:n], upper], [lower, *layers[n + 1 :]]


def _jumps(layer: HarmonicLayer, moment: Floats) -> tuple[Complex, Complex]:
    """Jumps at the source, down minus up: P-SV (4, 3) and SH (2, 3), for orders m = 0, 1, 2."""
    stiffness, mu = layer.rho * layer.vp**2, layer.rho * layer.vs**2
    zz, rr = moment[2, 2], 0.5 * (moment[0, 0] + moment[1, 1])
    p_sv, sh = np.zeros((4, 3), complex), np.zeros((2, 3), complex)
    p_sv[0, 0] = zz / stiffness
    p_sv[3, 0] = rr - (1.0 - 2.0 * mu / stiffness) * zz
    if mu:
        p_sv[1, 1] = sh[0, 1] = 1.0 / mu
        p_sv[3, 2] = sh[1, 2] = -1.0
    return p_sv, sh


# --- waves ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Waves:
    """Waves in a layer, of n types: 2, 1, or none.

    Attributes:
        away: motion-stress vectors of waves that propagate away from the source, as columns,
            (wavenumbers, 4 or 2, n).
        back: vectors of waves that propagate back to the source.
        nu: vertical wavenumber: waves decay as exp(-nu distance), 1/m, (wavenumbers, n).
        layer: the layer.
    """

    away: Complex
    back: Complex
    nu: Complex
    layer: HarmonicLayer

    @property
    def types(self) -> int:
        """The number of wave types, n."""
        return self.nu.shape[-1]

    def through(self, matrix: Complex) -> Complex:
        """The columns of a matrix (wavenumbers, ..., n) after propagation through the layer."""
        return matrix * np.exp(-self.nu * self.layer.thickness)[:, None, :]

    def and_back(self, reflected: Complex) -> Complex:
        """A reflection matrix seen from the other side of the layer, (wavenumbers, n, n)."""
        return self.through(self.through(reflected).swapaxes(1, 2)).swapaxes(1, 2)

    @classmethod
    def of(cls, up: Complex, nu: Complex, layer: HarmonicLayer, sign: int) -> _Waves:
        """Waves that propagate away from the source upwards (`sign` 1) or downwards (-1).

        Args:
            up: vectors of upgoing waves, (n, 4 or 2, wavenumbers).
            nu: (n, wavenumbers).
        """
        vectors = up.transpose(2, 1, 0)
        mirrored = vectors * _MIRROR[vectors.shape[1]]
        away, back = (vectors, mirrored)[::sign]
        return cls(away, back, nu.T, layer)


# Signs of U, V, P, S and of W, T in downgoing waves, mirror images of upgoing ones.
_MIRROR = {n: np.array(signs)[:, None] for n, signs in ((4, (-1, 1, 1, -1)), (2, (1, -1)))}


def _p_sv(layer: HarmonicLayer, k: Floats, omega: complex, sign: int) -> _Waves:
    """P and SV waves; see `_Waves.of`."""
    p, s = _slope(layer.vp, k, omega), _slope(layer.vs, k, omega)
    mu, one = layer.rho * layer.vs**2, np.ones_like(p)
    g = 2.0 * mu - layer.rho * (omega / k) ** 2
    up = np.array([(p, one, g, 2.0 * mu * p), (one, s, 2.0 * mu * s, g)])
    n = bool(layer.vp) + bool(layer.vs)
    return _Waves.of(up[:n], np.array([k * p, k * s])[:n], layer, sign)


def _sh(layer: HarmonicLayer, k: Floats, omega: complex, sign: int) -> _Waves:
    """SH waves; see `_Waves.of`."""
    s = _slope(layer.vs, k, omega)
    up = np.array([(np.ones_like(s), layer.rho * layer.vs**2 * s)])
    n = int(bool(layer.vs))
    return _Waves.of(up[:n], (k * s)[None][:n], layer, sign)


def _slope(speed: complex, k: Floats, omega: complex) -> Complex:
    """Vertical over horizontal wavenumber; 1 for waves that the layer lacks."""
    ratio = (omega / (speed * k)) ** 2 if speed else np.zeros_like(k, complex)
    return np.asarray(np.sqrt(1.0 - ratio))


# --- reflections ----------------------------------------------------------------------------------


def _at_receiver(
    beyond: list[_Waves], between: list[_Waves], opposite: list[_Waves], jump: Complex
) -> Complex:
    """Vectors at the receiver, (wavenumbers, 2n, m), for a jump (2n, m) at the source.

    Args:
        beyond, between, opposite: the layers of `_paths`.
        jump: on the receiver's side minus on the other one.
    """
    reflected_beyond, _ = _reflect(beyond)
    reflected, passed = _reflect([beyond[-1], *between], reflected_beyond)
    reflected_opposite, _ = _reflect(opposite)
    waves, n = between[-1], between[-1].types
    rows = _conditions(waves, waves)
    both = np.concatenate([waves.away, waves.back], axis=2)
    source = np.linalg.solve(both[:, rows], jump[rows])
    away = source[:, :n] - reflected_opposite @ source[:, n:]
    away = np.linalg.solve(np.eye(n) - reflected_opposite @ reflected, away)
    return (beyond[-1].away + beyond[-1].back @ reflected_beyond) @ (passed @ away)


def _reflect(layers: list[_Waves], reflected: Complex | None = None) -> tuple[Complex, Complex]:
    """Reflection of waves that leave the last layer, and their transmission to the first.

    Waves pass unchanged between two parts of a divided layer. No system is solved there, because
    the P and SV vectors of large wavenumbers are almost parallel, which would lose digits.

    Args:
        reflected: reflection in the first layer; by default, nothing comes back.

    Returns:
        Matrices (wavenumbers, n, n) and (wavenumbers, n of the first layer, n). Amplitudes are
        those at the sides of the layers that are next to the source.
    """
    size, n = layers[0].nu.shape
    passed = np.broadcast_to(np.eye(n, dtype=complex), (size, n, n))
    reflected = np.zeros_like(passed) if reflected is None else reflected
    for far, near in pairwise(layers):
        if not far.layer.is_like(near.layer):
            rows, n = _conditions(far, near), far.types
            sides = np.concatenate([far.away + far.back @ reflected, -near.back], axis=2)
            waves = np.linalg.solve(sides[:, rows], near.away[:, rows])
            passed, reflected = passed @ waves[:, :n], waves[:, n:]
        passed, reflected = near.through(passed), near.and_back(reflected)
    return reflected, passed


def _conditions(one: _Waves, other: _Waves) -> list[int]:
    """Rows of the vectors that are continuous across an interface.

    The number of displacements is the smaller number of wave types of the two sides, and the number
    of stresses is the larger one. Fluids thus slip along solids, and stresses that one side lacks
    are zero.
    """
    half = one.away.shape[1] // 2
    fewer, more = sorted((one.types, other.types))
    return [*range(fewer), *range(half, half + more)]
