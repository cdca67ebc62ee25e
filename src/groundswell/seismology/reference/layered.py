"""Waves of a point moment tensor in a layered half-space: wavenumber integration.

Layers are solid or fluid, below a free surface. Sources and receivers may be at any depth. Motion
is a double integral over frequency and horizontal wavenumber k (Bouchon 1981, BSSA 71, 959-971) of
the motion-stress vectors of `reflectivity`.

Angular frequencies omega, for exp(i omega t), have a constant negative imaginary part, so that the
result is the motion times exp(-damping t). The damping attenuates motion that wraps around in time,
and moves poles and branch points away from real k. Errors are about 1e-6 of the peak. The cost is
proportional to the square of the duration and, if source and receiver are less than a few of the
shortest wavelengths apart in depth, to 1 / that distance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from groundswell.arrays import Floats
from groundswell.errors import InputError
from groundswell.seismology.media.layered import Layer
from groundswell.seismology.reference.fullspace import moment_matrix
from groundswell.seismology.reference.plane_waves import Complex
from groundswell.seismology.reference.pulse import Pulse
from groundswell.seismology.reference.reflectivity import HarmonicLayer, motion_stress

# Factor by which the damping reduces motion that wraps around in time.
_WRAPPED = 1e-6
# The spectrum of the source ends where it is below this fraction of its peak. Undoing the damping
# raises the error by 1 / sqrt(_WRAPPED) at most.
_NEGLIGIBLE = 1e-8
# Decay of an evanescent wave of the largest wavenumber between the source and the receiver.
_EVANESCENT = 1e-10

_SAMPLES = 2000  # of the source, for its spectrum
_POINTS = 20  # Gauss points of a panel of the quadrature over wavenumber
_DENSITY = 2.0  # quadrature points per oscillation of the integrand over wavenumber
_ISOTROPY = 1e-9  # deviation from an isotropic moment that is due to rounding


@dataclass(frozen=True)
class LayeredHalfSpace:
    """Homogeneous layers below a free surface; the last is a half-space.

    Attributes:
        layers: from the surface down, SI units; fluid if vs is 0. With qp and qs, Q does not depend
            on frequency (Kjartansson 1979, JGR 84, 4737-4748).
        reference_frequency: frequency of the phase speeds of layers with qp or qs, Hz.
    """

    layers: Sequence[Layer]
    reference_frequency: float = 1.0

    def at(self, omega: complex) -> list[HarmonicLayer]:
        """The layers at the angular frequency `omega`, rad/s; anelastic speeds depend on it."""
        ratio = omega / (2.0 * np.pi * self.reference_frequency)
        thickness = np.diff([*(layer.top for layer in self.layers), np.inf])
        return [HarmonicLayer.of(*pair, ratio) for pair in zip(self.layers, thickness, strict=True)]

    def is_fluid(self, depth: float) -> bool:
        """Whether the layer at a depth is fluid; on an interface, the lower layer counts."""
        return next(layer for layer in reversed(self.layers) if layer.top <= depth).vs == 0


@dataclass(frozen=True)
class MomentSource:
    """A point source.

    Attributes:
        depth: m, above 0; a source on an interface belongs to the lower layer.
        moment: (xx, yy, zz, xy, xz, yz) or a symmetric (3, 3) matrix, N m; z is down. In a fluid,
            it must be isotropic: the bulk modulus times the volume that the source displaces.
        rate: moment-rate function, 1/s, smooth enough to be band-limited.
    """

    depth: float
    moment: ArrayLike
    rate: Pulse


def layered_velocity(
    ground: LayeredHalfSpace, source: MomentSource, receivers: ArrayLike, time: ArrayLike
) -> Floats:
    """Velocity along x, y and down, m/s, (receivers, 3, n).

    Args:
        receivers: positions (x, y) relative to the source, and depths, m, (receivers, 3). Receivers
            on an interface belong to the lower layer.
        time: times, s, (n,).

    Raises:
        InputError: the source is not below the surface or is at the depth of a receiver; its moment
            is not isotropic in a fluid; or its moment rate is not band-limited.
    """
    places = _valid_receivers(ground, source, receivers)
    return _motion(ground, source, places, np.asarray(time, dtype=float))[:, :3]


def layered_pressure(
    ground: LayeredHalfSpace, source: MomentSource, receivers: ArrayLike, time: ArrayLike
) -> Floats:
    """Pressure in fluids, Pa, (receivers, n); arguments and errors as for `layered_velocity`.

    Raises:
        InputError: a receiver is not in a fluid.
    """
    places = _valid_receivers(ground, source, receivers)
    for depth in np.unique(places[:, 2]):
        if not ground.is_fluid(depth):
            raise InputError(
                f"layered half-space: the receiver at a depth of {depth:g} m is in a solid; "
                "pressure is defined in fluids only, so move it to a fluid layer"
            )
    return _motion(ground, source, places, np.asarray(time, dtype=float))[:, 3]


def _valid_receivers(
    ground: LayeredHalfSpace, source: MomentSource, receivers: ArrayLike
) -> Floats:
    """Check the source and the receivers; return the receivers."""
    places, depth = np.asarray(receivers, dtype=float), source.depth
    if not depth > 0 or not places[:, 2].min() >= 0 or depth in places[:, 2]:
        raise InputError(
            f"layered half-space: the source is at a depth of {depth:g} m and receivers at "
            f"{', '.join(f'{z:g}' for z in np.unique(places[:, 2]))} m; place the source below "
            "the surface, receivers not above it, and both at different depths"
        )
    moment = moment_matrix(source.moment)
    deviation = np.abs(moment - np.trace(moment) / 3.0 * np.eye(3)).max()
    if ground.is_fluid(depth) and deviation > _ISOTROPY * np.abs(moment).max():
        raise InputError(
            f"layered half-space: the source at a depth of {depth:g} m is in a fluid, and its "
            f"moment {moment.tolist()} is not isotropic; use an isotropic one, or a solid layer"
        )
    return places


def _motion(
    ground: LayeredHalfSpace, source: MomentSource, receivers: Floats, time: Floats
) -> Floats:
    """Velocity along x, y and down, and pressure in fluids, (receivers, 4, n)."""
    rate, found = source.rate, np.empty((len(receivers), 4, time.size))
    t = time - rate.start
    omega, spectrum = _source_spectrum(rate, 2.0 * max(t.max(), rate.stop - rate.start))
    waves = spectrum[:, None] * np.exp(1j * np.outer(omega, t))
    waves *= (omega[1] - omega[0]).real / (2.0 * np.pi)
    waves[1:] *= 2.0  # negative frequencies add the complex conjugate
    for depth in np.unique(receivers[:, 2]):
        there = receivers[:, 2] == depth
        response = _response(ground, source, receivers[there], omega)
        found[there, :3] = (response[:, :3] @ waves).real
        found[there, 3] = (response[:, 3] @ (waves / (1j * omega[:, None]))).real
    return found


def _response(
    ground: LayeredHalfSpace, source: MomentSource, receivers: Floats, omega: Complex
) -> Complex:
    """Displacement along x, y and down, and pressure, at one depth: (receivers, 4, frequencies)."""
    (x, y, (depth, *_)), matrix = receivers.T, moment_matrix(source.moment)
    distance = np.hypot(x, y)
    reach = float(distance.max()), abs(source.depth - depth)
    k, weights = _quadrature(ground.layers, *reach, omega)
    bessel = _bessel_functions(np.outer(distance, k)) * weights * k / (2.0 * np.pi)
    orders = [
        _hankel(_kernels(motion_stress(ground.at(w), source.depth, depth, matrix, k, w), k), bessel)
        for w in omega
    ]
    return _superpose(np.stack(orders, axis=-1), matrix, np.arctan2(y, x))


def _kernels(vectors: Complex, k: Floats) -> Complex:
    """U, V, W and the pressure -P of P-SV and SH vectors, (wavenumbers, 4, orders)."""
    u, v, p, _, w, _ = vectors.swapaxes(0, 1)
    return np.stack([u, v, w, -k[:, None] * p], axis=1)


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
    layers: Sequence[Layer], distance: float, height: float, omega: Complex
) -> tuple[Floats, Floats]:
    """Wavenumbers and weights of Gauss-Legendre panels, up to negligible evanescent waves.

    Args:
        distance, height: the largest horizontal and the vertical distance to the receivers, m.
    """
    slowest = min(layer.vs or layer.vp for layer in layers)
    top = np.hypot(omega[-1].real / slowest, np.log(_EVANESCENT) / height)
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
    """Hankel transform: radial, transverse and down motion and pressure, (4, receivers, orders)."""
    u, v, w, p = kernels.transpose(1, 2, 0)[..., None]  # (orders, wavenumbers, 1)
    value, slope, quotient = bessel  # (orders, receivers, wavenumbers)
    motion = np.stack([slope @ v + quotient @ w, quotient @ v + slope @ w, value @ u, value @ p])
    return motion[..., 0].swapaxes(1, 2)


def _superpose(orders: Complex, moment: Floats, azimuth: Floats) -> Complex:
    """Motion along x, y and down, and pressure, (receivers, 4, n).

    Args:
        orders: radial, transverse and down motion and pressure, (4, receivers, orders, n).
    """
    c, s = np.cos(azimuth), np.sin(azimuth)
    (xx, xy, xz), (_, yy, yz), _ = moment
    half, one = 0.5 * (xx - yy), np.ones_like(c)
    c2, s2 = c * c - s * s, 2.0 * s * c
    along = np.array([one, xz * c + yz * s, half * c2 + xy * s2])  # and pressure: radial, vertical
    across = np.array([0.0 * one, yz * c - xz * s, xy * c2 - half * s2])
    patterns = np.array([along, across, along, along])
    radial, transverse, down, p = np.einsum("crmn,cmr->crn", orders, patterns)
    c, s = c[:, None], s[:, None]
    return np.stack([c * radial - s * transverse, s * radial + c * transverse, down, p], axis=1)
