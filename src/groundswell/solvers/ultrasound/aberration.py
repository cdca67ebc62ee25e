"""Phases with which the elements of an array focus through an aberrating medium.

Sound from a point reaches the elements with phases that, reversed, make the sound of all elements
arrive at this point in phase, because Green's functions are reciprocal (Thomas & Fink 1996, IEEE
Trans. Ultrason. Ferroelectr. Freq. Control 43, 1122-1129). One run yields the phases of all
elements.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf, pi, radians
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_matrix

from groundswell.arrays import Complexes, Floats, Integers, Mask
from groundswell.errors import InputError, counted
from groundswell.exchange.communicator import Communicator
from groundswell.exchange.mpi_communicator import get_communicator
from groundswell.grids.cartesian import Grid
from groundswell.simulation.result import Result
from groundswell.simulation.temporary import run_built
from groundswell.solvers.ultrasound import transducers
from groundswell.solvers.ultrasound.case import UltrasoundCase, UltrasoundOutput
from groundswell.solvers.ultrasound.setup import Setup, prepare
from groundswell.solvers.ultrasound.source_case import SampledSignal, SourceSection
from groundswell.solvers.ultrasound.sources import SourceGrid
from groundswell.solvers.ultrasound.transducers import Surface, focus_delays
from groundswell.solvers.ultrasound.units import MM

PERIODS = 3  # recorded at the end, in which waves are taken as steady
FILE = "elements.nc"
PRESSURE = 1e3  # Pa, of the source at the target; the medium is taken as linear
OUTSIDE = 0.02  # largest part of an element's weights in absorbing layers


class Correction(NamedTuple):
    """Phases and amplitudes of the elements of all sources, one array for each source.

    Attributes:
        phases: degrees, from -180 to 180.
        weights: factors, at most 1, the largest of which is 1.
        gain: amplitude at the target with the phases, and with the weights if they are asked for,
            relative to that of the case; in a linear medium.
        efficiency: amplitude at the target in the case, relative to that of elements in phase.
    """

    phases: list[Floats]
    weights: list[Floats]
    gain: float
    efficiency: float


class _Element(NamedTuple):
    """An element of the case, and what it emits: pressure (Pa), weight and phase (rad)."""

    source: int
    surface: Surface
    pressure: float
    weight: float
    phase: float


class _Array(NamedTuple):
    """The elements of all sources.

    Attributes:
        elements: each of them.
        points: flat indices in the region of the points on which they act.
        weights: those of the points in each element, (elements, points).
    """

    elements: Sequence[_Element]
    points: Integers
    weights: csr_matrix


def phase_correction(
    case: UltrasoundCase, target: Sequence[float], *, amplitudes: bool = False, quiet: bool = True
) -> Correction:
    """Find the phases for which the sound of all elements arrives at a target in phase.

    >>> import groundswell as gs
    >>> tone = {"kind": "sine", "frequency": "500 kHz"}
    >>> lines = [
    ...     {"kind": "line", "start": (2e-3, y), "end": (2e-3, y + 1e-3)}
    ...     for y in (2e-3, 4e-3, 6e-3, 8e-3)
    ... ]
    >>> array = {"elements": lines, "signal": tone, "pressure": "100 kPa"}
    >>> grid = {"points": (64, 48), "spacing": "0.25 mm", "duration": "20 us"}
    >>> case = gs.ultrasound.build_case({"speed": 1500.0, "density": 1000.0}, [array], **grid)
    >>> correction = gs.ultrasound.phase_correction(case, (12e-3, 6e-3))
    >>> correction.phases[0].shape, correction.gain > 1
    ((4,), True)

    A run with a point source at the target, of the duration of the case, records the phases and
    amplitudes at the elements in its last 3 periods. The waves must be steady by then. Pressures
    are averaged over the elements with the weights with which these emit. All ranks of a job must
    call this; rank 0 computes the correction, and all return it.

    Args:
        case: a case whose sources are surfaces, with pressures and one frequency.
        target: position (x, y) or (x, y, z), m.
        amplitudes: whether elements also get weights in proportion to the recorded amplitudes.
        quiet: show no progress.

    Returns:
        `phases`, degrees, and `weights`, each one array per source; `gain`, the amplitude at the
        target relative to that of the case; `efficiency`, the amplitude of the case relative to
        that of elements in phase.

    Raises:
        InputError: the sources or the target are unsuitable.
        RunFailed: the run failed.
    """
    job = get_communicator()
    array = job.collective_try(lambda: _prepared(case, target, job))
    points = job.bcast(array.points if array else None)
    result = _run(_reciprocal(case, target, points), quiet=quiet)
    found = job.collective_try(
        lambda: _corrected(array, _pressure(result), amplitudes=amplitudes) if array else None
    )
    correction: Correction = job.bcast(found)
    return correction


def _prepared(case: UltrasoundCase, target: Sequence[float], job: Communicator) -> _Array | None:
    """The elements of a case, which all ranks check, on rank 0."""
    _require_suitable(case)
    axes = 3 if case.grid.counts[2] > 1 else 2
    if len(target) != axes:
        raise InputError(f"the target has {counted(len(target), 'coordinate')}; give {axes}")
    _require_inside(case, target)
    setup = prepare(case, job)
    return _array(setup) if job.first else None


def _require_inside(case: UltrasoundCase, target: Sequence[float]) -> None:
    grid = case.grid
    along = zip("xyz", target, grid.origin, grid.counts, grid.spacings, strict=False)
    for axis, at, first, n, h in along:
        last = first + (n - 1) * h
        if not first <= at <= last:
            raise InputError(
                f"the target, {axis} = {at / MM:g} mm, lies outside the region, which reaches from "
                f"{first / MM:g} to {last / MM:g} mm"
            )


def _array(setup: Setup) -> _Array:
    elements = [*_elements(setup)]
    points, weights = _grid_weights(setup, [element.surface for element in elements])
    return _Array(elements, points, weights)


def _run(case: UltrasoundCase, *, quiet: bool) -> Result:
    """Run the case with a source at the target, with a message that says so if it cannot run."""
    try:
        return run_built(case, quiet=quiet)
    except InputError as error:  # the same one, because all ranks know it
        error.args = (f"a run with a source at the target is not possible: {error}",)
        raise


def _pressure(result: Result) -> Complexes:
    """The recorded pressure at the points of the elements, (points,), Pa."""
    found = result.records[FILE]
    angles = np.radians(found["p_phase"].values.ravel().astype(float))
    return np.asarray(found["p_amplitude"].values.ravel() * np.exp(1j * angles))


def _require_suitable(case: UltrasoundCase) -> None:
    """Raise InputError for sources whose phases cannot be chosen."""
    frequencies = set()
    for n, source in enumerate(case.source):
        if source.mask is not None or source.pressure is None:
            raise InputError(f"source[{n}] must be a surface with a pressure, to have phases")
        if isinstance(source.signal, SampledSignal):
            raise InputError(f"source[{n}] has samples, which have no phase; use a sine or a burst")
        frequencies.add(source.signal.frequency)
    count = sum(len(shape.elements) for source in case.source for shape in source.shapes)
    if count < 2:
        raise InputError(
            f"the sources have {counted(count, 'element')}; focusing needs two or more: list them "
            "as elements of a source"
        )
    if len(frequencies) > 1:
        raise InputError("the sources have different frequencies; focusing needs one for all")


def _elements(setup: Setup) -> Iterator[_Element]:
    """The elements of all sources."""
    on = setup.source_grid
    for n, source in enumerate(setup.case.source):
        surfaces = [surface for shape in source.shapes for surface in shape.elements]
        assert source.pressure is not None and not isinstance(source.signal, SampledSignal)
        late = 2 * pi * source.signal.frequency * _delays(source, surfaces, on)
        given = zip(
            surfaces,
            source.weights or [1.0] * len(surfaces),
            source.phases or [0.0] * len(surfaces),
            late,
            strict=True,
        )
        for surface, weight, phase, delay in given:
            yield _Element(n, surface, source.pressure, weight, radians(phase) - float(delay))


def _delays(source: SourceSection, surfaces: Sequence[Surface], on: SourceGrid) -> Floats:
    """The delays of the elements of a source, s."""
    if source.steering is None:
        return np.asarray(source.delays or [0.0] * len(surfaces))
    points, _ = transducers.interpolation_matrix(surfaces, on.points(None))
    centres = [surface.reference_point for surface in surfaces]
    return focus_delays(centres, source.steering, float(np.mean(on.speeds(points))))


def _grid_weights(setup: Setup, surfaces: Sequence[Surface]) -> tuple[Integers, csr_matrix]:
    """Flat indices in the region of the points of elements, and weights (elements, points).

    Raises:
        InputError: an element extends into an absorbing layer.
    """
    grid = setup.grid
    layer = grid.spacing[0]
    points, weights = transducers.interpolation_matrix(
        surfaces, setup.source_grid.points(None), layer=layer
    )
    inside, indices = _in_region(points, grid)
    kept = csr_matrix(weights)[:, np.flatnonzero(inside)]
    lost = np.abs(1 - _sums(kept) / _sums(csr_matrix(weights)))
    if lost.max() > OUTSIDE:
        raise InputError(
            f"element {int(np.argmax(lost))} extends into an absorbing layer, where nothing is "
            "recorded; move it 7 points away from the edge of the region, or enlarge the region"
        )
    return indices, kept


def _sums(weights: csr_matrix) -> Floats:
    """The sum of the weights of each element."""
    return np.asarray(weights.sum(axis=1), float).ravel()


def _in_region(points: Integers, grid: Grid) -> tuple[Mask, Integers]:
    """Which points of the grid lie in the region, and the flat indices in the region of these."""
    index = np.unravel_index(points, grid.shape)
    moved = np.array([at - n for at, n in zip(index, grid.before[::-1], strict=True)])
    shape = grid.region[::-1]
    inside = ((moved >= 0) & (moved < np.array(shape)[:, None])).all(axis=0)
    return np.asarray(inside), np.asarray(
        np.ravel_multi_index(tuple(moved[:, inside]), shape), np.int64
    )


def _reciprocal(case: UltrasoundCase, target: Sequence[float], points: Integers) -> UltrasoundCase:
    """The case with a point source at the target, which records at the points of the elements."""
    signal: Any = case.source[0].signal
    wave = {"kind": "sine", "frequency": signal.frequency}
    shape = {"kind": "point", "position": list(target)}
    record = {
        "fields": ["p"],
        "where": {"kind": "mask", "indices": points.tolist()},
        "from": f"{case.time.duration - PERIODS / signal.frequency!r} s",
        "what": ["amplitude", "phase"],
        "frequencies": [signal.frequency],
        "file": FILE,
    }
    source = SourceSection(shape=shape, pressure=PRESSURE, signal=wave)
    output = UltrasoundOutput(record=[record], maps=False, medium=False)
    return case.model_copy(update={"source": (source,), "initial": None, "output": output})


def _corrected(array: _Array, at_points: Complexes, *, amplitudes: bool) -> Correction:
    """The correction from the pressure recorded at the points of the elements.

    An element contributes its emitted phasor times its recorded sum to the pressure at the target.
    """
    recorded = array.weights @ at_points
    means = np.abs(recorded) / _sums(array.weights)
    if not means.max() > 0:
        raise InputError(
            "the sound from the target does not reach the elements in the duration of the case; "
            "increase time.duration"
        )
    phases, weights = -np.degrees(np.angle(recorded)), means / means.max()
    pressure, factor, angle = np.array([element[2:] for element in array.elements]).T
    found = np.abs(np.sum(pressure * factor * np.exp(1j * angle) * recorded))
    aligned = np.sum(np.abs(pressure * factor * recorded))
    focused = np.sum(np.abs(pressure * weights * recorded)) if amplitudes else aligned
    sources = np.array([element.source for element in array.elements])
    parts = [sources == n for n in range(sources.max() + 1)]
    return Correction(
        [phases[part] for part in parts],
        [weights[part] for part in parts],
        float(focused / found) if found else inf,
        float(found / aligned),
    )
