"""Sources of an input file: pressure, velocity and transducer signals at grid points.

The file contains signals as the scheme adds them: the program that wrote it has scaled them, and a
pressure source has the unit of density.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

import numpy as np
from scipy.sparse import csr_matrix

from groundswell.arrays import Integers
from groundswell.solvers.ultrasound.kwave.datasets import FLOAT, InputDatasets
from groundswell.solvers.ultrasound.point_source import PointSource

Mode = Literal["additive", "uncorrected", "dirichlet"]
MODES: tuple[Mode, ...] = ("dirichlet", "uncorrected", "additive")  # in the file 0, 1, 2


def read_sources(file: InputDatasets, axes: int, points: int) -> tuple[PointSource, ...]:
    """Sources of a grid.

    Args:
        axes: number of dimensions.
        points: number of grid points.
    """
    samples = {name: file.count(f"{name}_source_flag") for name in ("p", "ux", "uy")}
    samples["uz"] = file.count("uz_source_flag", None if axes == 3 else 0)
    if axes == 2 and samples["uz"]:
        raise file.error("uz_source_flag must be 0 in two dimensions")
    pressure = {"p": samples.pop("p")}
    found = [*_family(file, "p", pressure, points), *_family(file, "u", samples, points)]
    if duration := file.count("transducer_source_flag"):
        found.append(_transducer(file, duration, points))
    return tuple(found)


def _family(
    file: InputDatasets, kind: str, samples: Mapping[str, int], points: int
) -> Iterator[PointSource]:
    """Pressure sources, or sources of the velocity components, which share their points."""
    active = {field: count for field, count in samples.items() if count}
    if not active:
        return
    mode = MODES[file.choice(f"{kind}_source_mode", range(len(MODES)))]
    columns = file.choice(f"{kind}_source_many", (0, 1))
    places = _points(file, kind, points)
    for field, count in active.items():
        signals = file.values(f"{field}_source_input", count * (len(places) if columns else 1))
        if columns:
            signals = signals.reshape(count, len(places))
        yield PointSource(field, places, signals, mode)


def _points(file: InputDatasets, kind: str, points: int) -> Integers:
    """The points of a source; each may occur only once."""
    name = f"{kind}_source_index"
    found = file.indices(name, points)
    if len(np.unique(found)) < len(found):
        raise file.error(f"{name} contains a point twice; combine their signals")
    return found


def _transducer(file: InputDatasets, duration: int, points: int) -> PointSource:
    """The source of a transducer, whose points add a signal to ux after their own delays.

    Point k adds signal[delay_k + n] at step n < `duration`, and nothing after the end of the
    signal. Points with the same delay share a column of signals.
    """
    places = _points(file, "u", points)
    signal = file.values("transducer_source_input")
    delays, columns = np.unique(_delays(file, len(places), len(signal)), return_inverse=True)
    samples = np.arange(duration)[:, None] + delays
    signals = np.append(signal, np.float32(0))[np.minimum(samples, len(signal))]
    entries = np.ones(len(places)), (np.arange(len(places)), columns.reshape(-1))
    weights = csr_matrix(entries, shape=(len(places), len(delays)))
    return PointSource("ux", places, signals, "uncorrected", weights)


def _delays(file: InputDatasets, count: int, samples: int) -> Integers:
    """First sample of each point, from 0. Some programs store integers, others floats."""
    if not file.is_of_type("delay_mask", FLOAT):
        return file.indices("delay_mask", samples, count)
    delays = file.values("delay_mask", count)
    if not ((delays >= 1) & (delays <= samples) & (delays == np.round(delays))).all():
        raise file.error(f"delay_mask must contain whole numbers from 1 to {samples}")
    return delays.astype(np.int64) - 1
