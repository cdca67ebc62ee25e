"""Sources of a case: their grid points, and the signals that the scheme adds or sets there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import floor, radians
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_matrix

from groundswell.arrays import Floats, Integers
from groundswell.case.recording import MaskWhere
from groundswell.errors import InputError, counted
from groundswell.formats.damage import read_errors_reported
from groundswell.grids.cartesian import Grid
from groundswell.outputs.cartesian import read_mask
from groundswell.solvers.ultrasound import transducers
from groundswell.solvers.ultrasound.fields import AXES
from groundswell.solvers.ultrasound.medium import AcousticMedium
from groundswell.solvers.ultrasound.point_source import PointSource
from groundswell.solvers.ultrasound.source_case import SampledSignal, SourceSection
from groundswell.solvers.ultrasound.transducers import PhasedArray, PointGrid, Signal


class SourceGrid(NamedTuple):
    """The grid, the sound speeds and the times that sources depend on.

    Attributes:
        grid: the grid.
        origin: position of the first point of the region, m.
        speeds: function of flat indices of points that returns their sound speeds, m/s.
        dt: time step, s.
        steps: number of steps.
    """

    grid: Grid
    origin: tuple[float, float, float]
    speeds: Callable[[Integers], Floats]
    dt: float
    steps: int

    @property
    def axes(self) -> int:
        """Number of axes of the scheme."""
        return 3 if self.grid.cells[2] > 1 else 2

    def points(self, axis: int | None) -> PointGrid:
        """All pressure points, or the velocity points of an axis."""
        spacing = np.array(self.grid.spacing)
        first = np.array(self.origin) - np.array(self.grid.before) * spacing
        if axis is not None:
            first[axis] += spacing[axis] / 2
        x, y, z = first.tolist()
        return PointGrid((x, y, z), self.grid.spacing, self.grid.cells)


def point_sources(sections: Sequence[SourceSection], on: SourceGrid) -> list[PointSource]:
    """The sources of a case.

    Raises:
        InputError: a transducer leaves the grid, or a file or number of elements does not fit.
    """
    found: list[PointSource] = []
    for n, section in enumerate(sections):
        try:
            found += _sources(section, on)
        except InputError as error:
            raise InputError(f"source[{n}]: {error}") from None
    return found


def _sources(section: SourceSection, on: SourceGrid) -> Iterator[PointSource]:
    """A pressure source, or a velocity source for each component of its direction."""
    if section.pressure is not None:
        yield _source(section, on, None, section.pressure)
        return
    assert section.direction is not None and section.velocity is not None
    unit = np.array(section.direction) / np.linalg.norm(section.direction)
    for axis in range(on.axes):
        if unit[axis]:
            yield _source(section, on, axis, float(section.velocity * unit[axis]))


def _source(
    section: SourceSection, on: SourceGrid, axis: int | None, amplitude: float
) -> PointSource:
    """The source of the pressure, or of the velocity along an axis."""
    points, weights, array = _elements(section, on, axis)
    signals = amplitude * _signals(section, array, weights.shape[1], on)
    if signals.shape[1] < weights.shape[1]:
        weights = csr_matrix(weights.sum(axis=1))
    factors = scales(section.mode, on, axis, points, is_mask=section.mask is not None)
    scaled = csr_matrix(weights.multiply(factors[:, None]))
    name = "p" if axis is None else f"u{AXES[axis]}"
    return PointSource(name, points, signals, section.mode, scaled)


def scales(
    mode: str, on: SourceGrid, axis: int | None, points: Integers, *, is_mask: bool = True
) -> Floats:
    """Factors from amplitudes to the values that the scheme adds per step, or sets, at each point.

    An additive source of the pressure p adds the density 2 dt p / (c d), divided equally among the
    split densities; one of the velocity u adds 2 c dt u / d (Treeby & Cox 2010, J. Biomed. Opt. 15,
    021314). Here d is the thickness of the layer of points in which the source acts.

    Args:
        mode: see `PointSource`.
        axis: the axis of a velocity; None for a pressure.
        points: flat indices of the points.
        is_mask: whether the points are those of a mask.
    """
    speed = on.speeds(points)
    if mode == "dirichlet":
        return np.ones(len(points)) if axis is not None else 1 / (on.axes * speed**2)
    if axis is not None:
        return 2 * speed * on.dt / on.grid.spacing[axis]
    across = mask_normal(points, on.grid) if is_mask else None
    return 2 * on.dt / (on.axes * speed * on.grid.spacing[across or 0])


def mask_normal(points: Integers, grid: Grid) -> int | None:
    """The axis across a mask that lies in one plane of grid points; None if there is none.

    In such a plane, a source of the pressure p emits waves of the amplitude p. Other masks have no
    thickness; for those, the spacing along x takes its place, as in k-Wave.

    Args:
        points: flat indices of the points of the mask.
        grid: the grid.
    """
    indices = np.unravel_index(points, grid.shape)[::-1]
    axes = range(3 if grid.cells[2] > 1 else 2)
    across = [axis for axis in axes if np.ptp(indices[axis]) == 0]
    return across[0] if len(across) == 1 else None


def source_strength(source: PointSource, medium: AcousticMedium, axes: int) -> float:
    """The order of magnitude of the pressure that a source adds or sets in a step, Pa."""
    largest, fastest = np.abs(source.signals).max() * abs(source.matrix).max(), np.max(medium.speed)
    if source.field == "p":
        return float(axes * fastest**2 * largest)
    return float(np.max(medium.density) * fastest * largest)


# --- elements -------------------------------------------------------------------------------------


def _elements(
    section: SourceSection, on: SourceGrid, axis: int | None
) -> tuple[Integers, csr_matrix, PhasedArray | None]:
    """Flat indices of points, the weights (points, elements), and the array of the elements."""
    if section.mask is not None:
        points = mask_points(section.mask, on.grid)
        entries = np.arange(len(points))
        return points, csr_matrix((np.ones(len(points)), (entries, entries))), None
    surfaces = tuple(surface for shape in section.shapes for surface in shape.elements)
    array = PhasedArray(
        surfaces,
        section.weights or 1.0,
        tuple(map(radians, section.phases or ())) or 0.0,
        section.delays or 0.0,
    )
    layer = on.grid.spacing[axis or 0]
    points, weights = transducers.interpolation_matrix(surfaces, on.points(axis), layer=layer)
    if section.mode == "dirichlet" and not np.allclose(weights.data, 1):
        raise InputError(
            'mode = "dirichlet" sets values at grid points, but the surface lies between them or '
            'ends there; use mode = "additive", or a mask of points'
        )
    if section.steering is not None:  # delays assume the mean speed at the elements everywhere
        array = array.focused(section.steering, float(np.mean(on.speeds(points))))
    return points, csr_matrix(weights.T), array


def mask_points(where: MaskWhere, grid: Grid) -> Integers:
    """Flat indices, among all points of the grid, of a mask of the region."""
    shape = grid.region[::-1]
    inside = np.unravel_index(read_mask(where, shape, "shape"), shape)
    moved = tuple(n + first for n, first in zip(inside, grid.before[::-1], strict=True))
    return np.asarray(np.ravel_multi_index(moved, grid.shape), np.int64)


def _signals(
    section: SourceSection, array: PhasedArray | None, count: int, on: SourceGrid
) -> Floats:
    """Signals of the elements with the amplitude 1, (samples, elements), or one for all.

    Args:
        section: the source.
        array: its elements; None for the points of a mask.
        count: number of elements, or of points of a mask.
        on: the grid and the times.
    """
    signal, columns = _signal(section), 1
    if isinstance(signal, transducers.SampledSignal) and np.ndim(signal.samples) == 2:
        columns = signal.samples.shape[1]
        if columns != count:
            raise InputError(
                f"signal holds {counted(columns, 'signal')} for "
                f"{counted(count, 'element or point', 'elements or points')}; give one signal for "
                "all, or one for each"
            )
    steps = _active_steps(section, signal, array, on)
    if array is None:
        return transducers.element_signals(signal, steps, on.dt, np.ones(columns))
    return array.signals(signal, steps, on.dt)


def _active_steps(
    section: SourceSection, signal: Signal, array: PhasedArray | None, on: SourceGrid
) -> int:
    """Number of steps with a signal: points whose values are set are released when it ends."""
    end = signal.duration + float(np.max(array.delays if array else 0.0))
    if section.mode != "dirichlet" or end >= on.steps * on.dt:
        return on.steps
    return floor(end / on.dt * (1 + 1e-9)) + 1


def _signal(section: SourceSection) -> Signal:
    """The signal of a source: one for all elements, or samples for each."""
    if not isinstance(section.signal, SampledSignal):
        return section.signal.signal
    samples = _samples(section.signal)
    alone = samples[:, 0] if samples.shape[1] == 1 else samples
    return transducers.SampledSignal(alone, section.signal.interval)


def _samples(section: SampledSignal) -> Floats:
    """Samples (samples, signals) of a section."""
    found: Any = section.values
    if section.file is not None:
        with read_errors_reported(section.file, "a NumPy file"):
            found = np.load(section.file, allow_pickle=False)
        if found.ndim not in (1, 2) or found.dtype.kind not in "fiu" or len(found) < 2:
            raise InputError(
                f"{section.file} holds an array {found.dtype} {found.shape}; it must hold 2 or "
                "more numbers, or an array (samples, elements) of numbers"
            )
    return np.asarray(found, float).reshape(len(found), -1)
