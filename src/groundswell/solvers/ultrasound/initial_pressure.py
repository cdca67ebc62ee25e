"""Initial pressure of a case at all points of its grid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from groundswell.arrays import Floats, HostArray
from groundswell.errors import InputError
from groundswell.exchange.communicator import Communicator
from groundswell.formats.damage import read_errors_reported
from groundswell.grids.cartesian import Grid
from groundswell.solvers.ultrasound.case import (
    ArraySection,
    BallSection,
    GaussianSection,
    InitialSection,
)
from groundswell.solvers.ultrasound.window import Window


def largest_initial(section: InitialSection, grid: Grid, positions: Sequence[Floats]) -> float:
    """Largest magnitude of an initial pressure, Pa, found without computing it at all points.

    Args:
        section: the section of the case.
        grid: the grid.
        positions: coordinates of all points along x, y and z, m.

    Raises:
        InputError: an array does not have one finite value per point of the region, or there is no
            pressure at any point.
    """
    if isinstance(section, ArraySection):
        values = _array(section, grid.region[::-1])
        found = max(np.abs(np.asarray(plane, float)).max() for plane in values)
    else:
        x, y, z = map(np.min, _squares(section, grid, positions))
        found = np.abs(_pressure(section, np.asarray(z + y + x))).max()
    if not found:
        raise InputError(
            f"[initial] of kind {section.kind!r} has no pressure at any grid point; change its "
            "centre, size or values"
        )
    return float(found)


def initial_pressure(section: InitialSection, grid: Grid, positions: Sequence[Floats]) -> Floats:
    """Initial pressure at all points, (nz, ny, nx), Pa. An array is zero in absorbing layers.

    `largest_initial` must have passed; it has the same arguments.
    """
    whole = initial_in(section, grid, positions, Window.whole_of(grid.cells))
    return smoothed(whole) if section.smooth else whole


def initial_in(
    section: InitialSection, grid: Grid, positions: Sequence[Floats], window: Window
) -> Floats:
    """The part of the pressure in a window, without smoothing."""
    if not isinstance(section, ArraySection):
        squares = enumerate(_squares(section, grid, positions))
        x, y, z = (values[window.indices(axis)] for axis, values in squares)
        return _pressure(section, z[:, None, None] + y[:, None] + x)
    pressure, values = np.zeros(window.extended[::-1]), _array(section, grid.region[::-1])
    places = [window.indices(axis) - grid.before[axis] for axis in (2, 1, 0)]
    inside = [(at >= 0) & (at < n) for at, n in zip(places, values.shape, strict=True)]
    used = (at[within] for at, within in zip(places, inside, strict=True))
    pressure[np.ix_(*inside)] = values[np.ix_(*used)]
    return pressure


def received(whole: Floats | None, window: Window, comm: Communicator) -> Floats:
    """The values of a window, from those of all points on rank 0; all ranks must call it.

    Args:
        whole: the values of all points, (nz, ny, nx), on rank 0.
    """
    found, wanted = np.empty(window.extended[::-1]), window.indices(2)
    part = np.ix_(window.indices(1), window.indices(0))
    for k in range(window.whole[2]):  # planes: messages stay small
        plane = comm.bcast(None if whole is None else whole[k])
        for n in np.flatnonzero(wanted == k):
            found[n] = plane[part]
    return found


def _squares(
    section: BallSection | GaussianSection, grid: Grid, positions: Sequence[Floats]
) -> list[Floats]:
    """Squares of the distances from the centre along each axis that has several points, m^2."""
    axes = zip(positions, section.centre, grid.cells, strict=True)
    return [(at - centre) ** 2 if n > 1 else np.zeros(1) for at, centre, n in axes]


def _pressure(section: BallSection | GaussianSection, squared: Floats) -> Floats:
    """Pressure from the squared distance to the centre."""
    if isinstance(section, BallSection):
        return np.where(squared <= section.radius**2, section.pressure, 0.0)
    return np.asarray(section.pressure * np.exp(-squared / (2 * section.width**2)))


def _array(section: ArraySection, shape: tuple[int, ...]) -> HostArray:
    """The values of the region (nz, ny, nx), which are not copied to memory from a file."""
    values: Any = section.values
    where = "initial.values"
    if section.file is not None:
        where = str(section.file)
        with read_errors_reported(section.file, "a NumPy file"):
            values = np.load(section.file, mmap_mode="r", allow_pickle=False)
    if values.shape not in (shape, shape[1:] if shape[0] == 1 else shape):
        raise InputError(
            f"{where} has the shape {values.shape}; it must have one value per point of the "
            f"region, {shape} (nz, ny, nx)"
        )
    if values.dtype.kind not in "fiu" or not all(np.isfinite(plane).all() for plane in values):
        raise InputError(f"{where} has values that are not finite numbers; correct the data")
    reshaped: HostArray = values.reshape(shape)
    return reshaped


def smoothed(values: Floats) -> Floats:
    """Smooth values by a Blackman window in the spectrum; the largest magnitude stays the same.

    The window is a function of the wavenumber relative to the largest one of each axis, at which it
    is zero. It is that of k-Wave (Treeby & Cox 2010, J. Biomed. Opt. 15, 021314): the longest axis
    has its values at its wavenumbers, and other values are interpolated linearly.
    """
    axes = [axis for axis, n in enumerate(values.shape) if n > 1]
    radius = np.sqrt(sum(_relative_wavenumbers(values.shape, axis) ** 2 for axis in axes))
    known = np.linspace(0, 1, max(values.shape) // 2 + 1)
    blackman = 0.42 + 0.5 * np.cos(np.pi * known) + 0.08 * np.cos(2 * np.pi * known)
    window = np.interp(radius, known, blackman)
    found = np.real(np.fft.ifftn(window * np.fft.fftn(values, axes=axes), axes=axes))
    return np.asarray(found * np.abs(values).max() / np.abs(found).max())


def _relative_wavenumbers(shape: tuple[int, ...], axis: int) -> Floats:
    """Wavenumbers along an axis divided by the largest one, with the axes of the spectrum."""
    n = shape[axis]
    relative = np.fft.fftfreq(n) * n / (n // 2)
    return np.expand_dims(relative, [other for other in range(len(shape)) if other != axis])
