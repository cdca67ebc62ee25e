"""Surface motion of a layered half-space under a point moment tensor: wavenumber integration.

Motion is a double integral over frequency and horizontal wavenumber k (Bouchon 1981, BSSA 71,
959-971). At each k the motion-stress vectors

    P-SV: (U, V, P / k, S / k),    SH: (W, T / k)

hold the vertical, radial and transverse displacement and the stresses zz, rz and tz. They are
continuous in depth, but jump at the source. In a layer they are superpositions of upgoing and
downgoing waves. Reflection matrices carry the boundary conditions from the surface and from the
half-space to the source (Kennett 1983, Seismic Wave Propagation in Stratified Media). All
exponentials decay, so the method is stable for thick layers and high frequencies.

Angular frequencies omega, for exp(i omega t), have a constant negative imaginary part, so that the
result is the motion times exp(-damping t). The damping attenuates motion that wraps around in time,
and moves poles and branch points away from real k. Errors are about 1e-6 of the peak. The cost is
proportional to the square of the duration and, if the source is shallower than a few S wavelengths,
to 1 / depth.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groundswell.errors import InputError
from groundswell.seismology.media.layered import Layer
from groundswell.seismology.reference.fullspace import moment_matrix
from groundswell.seismology.reference.pulse import Floats, Pulse

Complex = NDArray[np.complexfloating]

# Factor by which the damping reduces motion that wraps around in time.
_WRAPPED = 1e-6
# The spectrum of the source ends where it is below this fraction of its peak. Undoing the damping
# raises the error by 1 / sqrt(_WRAPPED) at most.
_NEGLIGIBLE = 1e-8
# Decay of an evanescent wave of the largest wavenumber between the source and the surface.
_EVANESCENT = 1e-10

_SAMPLES = 2000  # of the source, for its spectrum
_POINTS = 20  # Gauss points of a panel of the quadrature over wavenumber
_DENSITY = 2.0  # quadrature points per oscillation of the integrand over wavenumber


@dataclass(frozen=True)
class LayeredHalfSpace:
    """Homogeneous solid layers below a free surface; the last is a half-space.

    Attributes:
        layers: from the surface down, SI units. With qp and qs, Q does not depend on frequency
            (Kjartansson 1979, JGR 84, 4737-4748).
        reference_frequency: frequency of the phase speeds of layers with qp or qs, Hz.
    """

    layers: Sequence[Layer]
    reference_frequency: float = 1.0

    def at(self, omega: complex) -> list[_Solid]:
        """The layers at the angular frequency `omega`, rad/s; anelastic speeds depend on it."""
        ratio = omega / (2.0 * np.pi * self.reference_frequency)
        thickness = np.diff([*(layer.top for layer in self.layers), np.inf])
        return [_Solid.of(*pair, ratio) for pair in zip(self.layers, thickness, strict=True)]


def layered_velocity(
    ground: LayeredHalfSpace,
    depth: float,
    moment: ArrayLike,
    offsets: ArrayLike,
    time: ArrayLike,
    rate: Pulse,
) -> Floats:
    """Velocity on the surface along x, y and down, m/s, (receivers, 3, n).

    Args:
        ground: the layers.
        depth: depth of the source, m, above 0; on an interface it lies in the lower layer.
        moment: (xx, yy, zz, xy, xz, yz) or a symmetric (3, 3) matrix, N m; z is down.
        offsets: horizontal positions (x, y) of the receivers relative to the source, m,
            (receivers, 2).
        time: times, s, (n,).
        rate: moment-rate function, 1/s, smooth enough to be band-limited.

    Raises:
        InputError: a layer is fluid, the source is not below the surface, or the moment rate is not
            band-limited.
    """
    if not depth > 0 or not min(layer.vs for layer in ground.layers) > 0:
        raise InputError(
            f"layered half-space: depth = {depth:g} m and the smallest vs = "
            f"{min(layer.vs for layer in ground.layers):g} m/s must be above 0; place the source "
            "below the surface and use solid layers"
        )
    (x, y), matrix = np.asarray(offsets, dtype=float).T, moment_matrix(moment)
    t = np.asarray(time, dtype=float) - rate.start
    omega, spectrum = _source_spectrum(rate, 2.0 * max(t.max(), rate.stop - rate.start))
    k, weights = _quadrature(ground.layers, depth, np.hypot(x, y).max(), omega)
    bessel = _bessel_functions(np.outer(np.hypot(x, y), k)) * weights * k / (2.0 * np.pi)
    orders = [_hankel(_kernels(ground.at(w), depth, matrix, k, w), bessel) for w in omega]
    response = _superpose(np.stack(orders, axis=-1), matrix, np.arctan2(y, x))
    waves = spectrum[:, None] * np.exp(1j * np.outer(omega, t))
    waves[1:] *= 2.0  # negative frequencies add the complex conjugate
    return (response @ waves).real * (omega[1] - omega[0]).real / (2.0 * np.pi)


@dataclass(frozen=True)
class _Solid:
    """A layer at one frequency; complex speeds if it is anelastic."""

    vp: complex
    vs: complex
    rho: float
    thickness: float

    @classmethod
    def of(cls, layer: Layer, thickness: float, ratio: complex) -> _Solid:
        """A layer at `ratio` times the reference frequency (Kjartansson 1979)."""

        def speed(value: float, q: float | None) -> complex:
            if q is None:
                return value
            gamma = np.arctan(1.0 / q) / np.pi
            return value * np.cos(np.pi * gamma / 2.0) * (1j * ratio) ** gamma

        return cls(speed(layer.vp, layer.qp), speed(layer.vs, layer.qs), layer.rho, thickness)


# --- motion at one frequency, for each wavenumber -------------------------------------------------


def _kernels(
    solids: Sequence[_Solid], depth: float, moment: Floats, k: Floats, omega: complex
) -> Complex:
    """Motion U, V and W of the surface for azimuthal orders m = 0, 1, 2, (wavenumbers, 3, 3).

    The factors i^m of the Hankel transform are included.
    """
    above, below = _split(solids, depth)
    motions = []
    for waves, jump in zip((_p_sv, _sh), _jumps(below[0], moment), strict=True):
        upper, lower = ([waves(solid, k, omega) for solid in part] for part in (above, below))
        motions.append(_surface_motion(upper, lower, jump))
    return np.concatenate(motions, axis=1)


def _split(solids: Sequence[_Solid], depth: float) -> tuple[list[_Solid], list[_Solid]]:
    """The layers above and below `depth`; the layer that contains it is split in two parts."""
    bottoms = np.cumsum([s.thickness for s in solids])
    n = int(np.searchsorted(bottoms, depth, side="right"))
    lower = replace(solids[n], thickness=bottoms[n] - depth)
    upper = replace(solids[n], thickness=depth - (bottoms[n - 1] if n else 0.0))
    return [*solids[:n], upper], [lower, *solids[n + 1 :]]


def _jumps(solid: _Solid, moment: Floats) -> tuple[Complex, Complex]:
    """Jumps of the P-SV vector, (4, 3), and of the SH vector, (2, 3), for orders m = 0, 1, 2.

    The radiation pattern (N m) is included for order 0 only; `_superpose` applies the others.
    """
    stiffness, mu = solid.rho * solid.vp**2, solid.rho * solid.vs**2
    zz, rr = moment[2, 2], 0.5 * (moment[0, 0] + moment[1, 1])
    p_sv, sh = np.zeros((4, 3), complex), np.zeros((2, 3), complex)
    p_sv[0, 0] = zz / stiffness
    p_sv[3, 0] = rr - (1.0 - 2.0 * mu / stiffness) * zz
    p_sv[1, 1] = sh[0, 1] = 1.0 / mu
    p_sv[3, 2] = sh[1, 2] = -1.0
    return p_sv, sh


@dataclass(frozen=True)
class _Waves:
    """Upgoing, then downgoing waves in a layer, of n types each.

    Attributes:
        vectors: motion-stress vectors as columns, (wavenumbers, 2n, 2n).
        nu: vertical wavenumber: waves decay as exp(-nu distance), 1/m, (wavenumbers, n).
        thickness: of the layer, m.
    """

    vectors: Complex
    nu: Complex
    thickness: float

    @property
    def types(self) -> int:
        """The number of wave types, n."""
        return self.nu.shape[-1]

    @property
    def up(self) -> Complex:
        """Vectors of upgoing waves, (wavenumbers, 2n, n)."""
        return self.vectors[:, :, : self.types]

    @property
    def down(self) -> Complex:
        """Vectors of downgoing waves, (wavenumbers, 2n, n)."""
        return self.vectors[:, :, self.types :]

    def through(self, matrix: Complex) -> Complex:
        """The columns of a matrix (wavenumbers, ..., n) after the layer."""
        return matrix * np.exp(-self.nu * self.thickness)[:, None, :]

    def and_back(self, reflected: Complex) -> Complex:
        """A reflection matrix seen from the other side of the layer, (wavenumbers, n, n)."""
        return self.through(self.through(reflected).swapaxes(1, 2)).swapaxes(1, 2)


def _p_sv(solid: _Solid, k: Floats, omega: complex) -> _Waves:
    """P and SV waves."""
    p, s = (np.sqrt(1.0 - (omega / (speed * k)) ** 2) for speed in (solid.vp, solid.vs))
    mu, one = solid.rho * solid.vs**2, np.ones_like(p)
    g, mp, ms = mu * (1.0 + s**2), 2.0 * mu * p, 2.0 * mu * s
    up, down = [(p, one, g, mp), (one, s, ms, g)], [(-p, one, g, -mp), (one, -s, -ms, g)]
    vectors = np.moveaxis(np.array([*up, *down]), (0, 1, 2), (2, 1, 0))
    return _Waves(vectors, np.stack([k * p, k * s], axis=1), solid.thickness)


def _sh(solid: _Solid, k: Floats, omega: complex) -> _Waves:
    """SH waves."""
    s = np.sqrt(1.0 - (omega / (solid.vs * k)) ** 2)
    stress, one = solid.rho * solid.vs**2 * s, np.ones_like(s)
    vectors = np.moveaxis(np.array([(one, stress), (one, -stress)]), (0, 1, 2), (2, 1, 0))
    return _Waves(vectors, (k * s)[:, None], solid.thickness)


def _surface_motion(above: list[_Waves], below: list[_Waves], jump: Complex) -> Complex:
    """Motion of the surface, (wavenumbers, n, m), for a jump (2n, m) of the vectors at the source.

    Args:
        above, below: the layers above and below the source, from the surface down.
    """
    n = len(jump) // 2
    reflected_above, motion = _from_surface(above)
    reflected_below = _from_half_space(below)
    source = np.linalg.solve(below[0].vectors, jump)
    up = reflected_below @ source[:, n:] - source[:, :n]
    return motion @ np.linalg.solve(np.eye(n) - reflected_below @ reflected_above, up)


def _from_surface(layers: list[_Waves]) -> tuple[Complex, Complex]:
    """Reflection of waves that go up at the source, and the surface motion that they cause.

    Both are matrices (wavenumbers, n, n); `layers` are those above the source.
    """
    top, n = layers[0], layers[0].types
    free = -np.linalg.solve(top.down[:, n:], top.up[:, n:])  # no stress
    motion = top.through(top.up[:, :n] + top.down[:, :n] @ free)
    reflected = top.and_back(free)
    for upper, lower in pairwise(layers):
        waves = np.linalg.solve(lower.vectors, upper.up + upper.down @ reflected)
        per_upgoing = np.linalg.inv(waves[:, :n])
        reflected = lower.and_back(waves[:, n:] @ per_upgoing)
        motion = lower.through(motion @ per_upgoing)
    return reflected, motion


def _from_half_space(layers: list[_Waves]) -> Complex:
    """Reflection of waves that go down at the source, (wavenumbers, n, n), by `layers` below."""
    n = layers[0].types
    reflected: Complex = np.zeros((len(layers[0].nu), n, n), complex)
    for lower, upper in pairwise(reversed(layers)):
        waves = np.linalg.solve(upper.vectors, lower.up @ reflected + lower.down)
        reflected = upper.and_back(waves[:, :n] @ np.linalg.inv(waves[:, n:]))
    return reflected


# --- integrals over frequency and wavenumber ------------------------------------------------------


def _source_spectrum(rate: Pulse, period: float) -> tuple[Complex, Complex]:
    """Angular frequencies, 2 pi / `period` apart, and the spectrum of the source up to its end.

    The end is where the spectrum falls below `_NEGLIGIBLE` of its peak. Time is zero at the start
    of the source.

    Raises:
        InputError: the spectrum does not end below the Nyquist frequency.
    """
    count = int(np.ceil(_SAMPLES * period / (rate.stop - rate.start)))
    t = period / count * np.arange(count)
    damping = -np.log(_WRAPPED) / period
    spectrum = period / count * np.fft.rfft(rate(rate.start + t) * np.exp(-damping * t))
    size = np.abs(spectrum)
    end = int(np.flatnonzero(size > _NEGLIGIBLE * size.max())[-1]) + 1
    if end == size.size:
        raise InputError(
            "layered half-space: the spectrum of the moment rate does not fall below "
            f"{_NEGLIGIBLE:g} of its peak; give a smoother one, such as a Gaussian"
        )
    return 2.0 * np.pi / period * np.arange(end) - 1j * damping, spectrum[:end]


def _quadrature(
    layers: Sequence[Layer], depth: float, distance: float, omega: Complex
) -> tuple[Floats, Floats]:
    """Wavenumbers and weights of Gauss-Legendre panels, up to negligible evanescent waves."""
    slowest = min(layer.vs for layer in layers)
    top = np.hypot(omega[-1].real / slowest, np.log(_EVANESCENT) / depth)
    # The integrand oscillates with k at most as fast as the phase of the latest arrival at the
    # farthest receiver.
    period = 2.0 * np.pi / (omega[1] - omega[0]).real
    reach = distance + max(layer.vp for layer in layers) * period
    panels = int(np.ceil(_DENSITY * reach * top / (2.0 * np.pi) / _POINTS))
    x, w = np.polynomial.legendre.leggauss(_POINTS)
    half = 0.5 * top / panels
    k = half * (2.0 * np.arange(panels)[:, None] + 1.0 + x)
    return k.ravel(), np.tile(half * w, panels)


def _bessel_functions(x: Floats) -> Floats:
    """J_m(x), its derivative and m J_m(x) / x for m = 0, 1, 2, (3, 3, ...)."""
    from scipy.special import jv

    j = np.stack([jv(m, x) for m in range(-1, 4)])
    below, above = j[:3], j[2:]
    return np.stack([j[1:4], 0.5 * (below - above), 0.5 * (below + above)])


def _hankel(kernels: Complex, bessel: Floats) -> Complex:
    """Hankel transform: radial, transverse and down motion, (3, receivers, azimuthal orders)."""
    u, v, w = kernels.transpose(1, 2, 0)[..., None]  # (orders, wavenumbers, 1)
    value, slope, quotient = bessel  # (orders, receivers, wavenumbers)
    motion = np.stack([slope @ v + quotient @ w, quotient @ v + slope @ w, value @ u])
    return motion[..., 0].swapaxes(1, 2)


def _superpose(orders: Complex, moment: Floats, azimuth: Floats) -> Complex:
    """Motion along x, y and down, (receivers, 3, n), of `orders` (3, receivers, orders, n)."""
    c, s = np.cos(azimuth), np.sin(azimuth)
    (xx, xy, xz), (_, yy, yz), _ = moment
    half, one = 0.5 * (xx - yy), np.ones_like(c)
    c2, s2 = c * c - s * s, 2.0 * s * c
    along = np.array([one, xz * c + yz * s, half * c2 + xy * s2])  # vertical and radial motion
    across = np.array([0.0 * one, yz * c - xz * s, xy * c2 - half * s2])
    radial, transverse, down = np.einsum("crmn,cmr->crn", orders, np.array([along, across, along]))
    c, s = c[:, None], s[:, None]
    return np.stack([c * radial - s * transverse, s * radial + c * transverse, down], axis=1)
