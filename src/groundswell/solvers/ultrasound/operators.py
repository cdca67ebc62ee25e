"""Spectral operators of the k-space pseudospectral method on a staggered grid, as tables.

Derivatives are multiplications by i k in the spectrum. A phase factor exp(+- i k d / 2) shifts the
result by half a cell, from pressure points to velocity points (+) or back (-). The factor
kappa = sinc(c_ref |k| dt / 2), with sinc(x) = sin(x) / x, makes a step exact in homogeneous media
with sound speed c_ref (Tabei, Mast & Waag 2002, J. Acoust. Soc. Am. 111, 53-63). The highest
wavenumber of an even number of points counts as negative.

Spectra are those of real arrays: their last axis, x, contains only the non-negative wavenumbers.
Arrays have the axes (z, y, x); axes are numbered 0, 1, 2 for x, y, z.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from groundswell.arrays import Complexes, Floats
from groundswell.grids.cartesian import Grid, Triple
from groundswell.solvers.ultrasound.window import Window

PML_POWER = 4  # exponent of the absorption profile


@dataclass(frozen=True)
class AbsorbingLayers:
    """Perfectly matched layers at the ends of each axis, inside the grid.

    Args:
        before, after: width on the low and the high side of each axis (x, y, z), points.
        strength: largest absorption along each axis, Np per point.
    """

    before: Triple
    after: Triple
    strength: tuple[float, float, float] = (2.0, 2.0, 2.0)


@dataclass(frozen=True)
class SpectralOperators:
    """Operators of a grid for one time step.

    Args:
        grid: the grid that is transformed, absorbing layers included; it is periodic.
        dt: time step, s.
        reference_speed: sound speed c_ref of the k-space correction, m/s.
        layers: the absorbing layers; by default those around the region of the grid.
        window: the position of this grid in a larger one; by default, it is the whole grid.
    """

    grid: Grid
    dt: float
    reference_speed: float
    layers: AbsorbingLayers | None = None
    window: Window | None = None

    def wavenumbers(self, axis: int) -> Floats:
        """Wavenumbers of the spectrum along an axis, rad/m, (n,)."""
        n = self.grid.cells[axis]
        k = 2 * np.pi * np.asarray(np.fft.fftfreq(n, self.grid.spacing[axis]), float)
        return k[: n // 2 + 1] if axis == 0 else k

    def magnitudes(self, planes: slice = slice(None)) -> Floats:
        """Magnitudes |k| of the wavenumbers in some planes, rad/m, (planes, ny, nx / 2 + 1)."""
        x, y, z = (self.wavenumbers(axis) ** 2 for axis in range(3))
        return np.sqrt(z[planes, None, None] + y[:, None] + x)

    def derivative(self, axis: int, shift: int) -> Complexes:
        """Factors i k exp(i shift k d / 2) of a derivative, with the scale 1 / N, 1/m, (n,).

        N is the number of points: inverse transforms are not scaled.

        Args:
            shift: +1 to move the result to velocity points, -1 to pressure points.
        """
        k, d = self.wavenumbers(axis), self.grid.spacing[axis]
        return 1j * k * np.exp(0.5j * shift * k * d) / self.grid.count

    def kappa(self, planes: slice = slice(None)) -> Floats:
        """k-space correction of derivatives in some planes, (planes, ny, nx / 2 + 1)."""
        return np.sinc(self.reference_speed * self.magnitudes(planes) * self.dt / (2 * np.pi))

    def source_kappa(self, planes: slice = slice(None)) -> Floats:
        """k-space correction of additive sources, cos(c_ref |k| dt / 2), with the scale 1 / N.

        Cox, Treeby & Jaros (2018), IEEE International Ultrasonics Symposium.
        """
        phase = self.reference_speed * self.magnitudes(planes) * self.dt / 2
        return np.cos(phase) / self.grid.count

    def fractional_laplacian(self, power: float, planes: slice = slice(None)) -> Floats:
        """Factors |k|^power of a fractional Laplacian, with the scale 1 / N; 0 at k = 0.

        Treeby & Cox (2010), J. Acoust. Soc. Am. 127, 2741-2748.
        """
        k = self.magnitudes(planes)
        return np.power(k, power, out=np.zeros_like(k), where=k > 0) / self.grid.count

    def layer(self, axis: int, *, staggered: bool) -> Floats:
        """Factor of the perfectly matched layers along an axis for half a step, (n,).

        It is exp(-dt strength (c_ref / d) (x / P)^4 / 2) at depth x in a layer of P points.

        Args:
            staggered: whether the points are velocity points of this axis, half a cell further.
        """
        layers = self.layers or AbsorbingLayers(self.grid.before, self.grid.after)
        window = self.window or Window.whole_of(self.grid.cells)
        before, after = layers.before[axis], layers.after[axis]
        points = window.indices(axis)
        place = points + (0.5 if staggered else 0.0)
        low = np.where(points < before, (before - place) / max(before, 1), 0.0)
        first = window.whole[axis] - after
        high = np.where(points >= first, (place - first + 1) / max(after, 1), 0.0)
        absorption = layers.strength[axis] * self.reference_speed / self.grid.spacing[axis]
        factor: Floats = np.exp(-self.dt / 2 * absorption * (low + high) ** PML_POWER)
        return factor
