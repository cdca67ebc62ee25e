"""Sources of the scheme: signals at points of the grid, and their launches."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import DTypeLike
from scipy.sparse import csr_matrix

from groundswell.arrays import DeviceArray, Integers, Reals
from groundswell.backends import Backend, Items, Launch, Source
from groundswell.backends.source import precision

KERNELS = Path(__file__).parent / "kernels" / "sources.h"


@dataclass(frozen=True)
class PointSource:
    """Signals that are added to fields, or replace them, at some points.

    Args:
        field: "p", or "ux", "uy" or "uz".
        points: indices into the flattened field, (points,).
        signals: one signal for all points, (samples,), or several, (samples, signals). A pressure
            source acts on each split density: its signal has the unit of density.
        mode: "additive" with the k-space correction, "uncorrected" without, or "dirichlet".
        weights: factor of each signal at each point, a sparse matrix (points, signals). By default,
            a single signal acts at all points, and signal n of several at point n.
    """

    field: str
    points: Integers
    signals: Reals
    mode: Literal["additive", "uncorrected", "dirichlet"] = "additive"
    weights: csr_matrix | None = None

    @property
    def matrix(self) -> csr_matrix:
        """The weights, (points, signals)."""
        count = len(self.points)
        if self.weights is not None:
            return self.weights
        if np.ndim(self.signals) == 2:
            return csr_matrix((np.ones(count), np.arange(count), np.arange(count + 1)))
        return csr_matrix(np.ones((count, 1)))


def injection_source(dtype: DTypeLike) -> Source:
    """The kernels that add signals to fields and advance the clock."""
    return Source(KERNELS, precision(dtype))


class Injection:
    """Launches that add the signals of sources to fields at the current step.

    Args:
        backend: the device.
        dtype: floating-point type of fields.

    Attributes:
        clock: number of steps made, on the device, (1,).
        advance: the launch that advances the clock by one step.
    """

    def __init__(self, backend: Backend, dtype: str) -> None:
        self._backend, self._dtype = backend, dtype
        self._module = backend.compile(injection_source(dtype))
        self.clock = backend.zeros((1,), np.int64)
        self.advance = self._module.launch("next_step", Items(1), self.clock)

    def __call__(self, name: str, source: PointSource, field: DeviceArray) -> Launch:
        """Launch that adds a source to a field ("add_source"), or sets values ("set_source")."""
        signals = np.asarray(source.signals).reshape(len(source.signals), -1)
        matrix, table = source.matrix, np.int64
        arrays = (
            self._backend.to_device(np.ascontiguousarray(values, dtype))
            for values, dtype in (
                (source.points, table),
                (matrix.indptr, table),
                (matrix.indices, table),
                (matrix.data, self._dtype),
                (signals, self._dtype),
            )
        )
        sizes = (len(source.points), *signals.shape)
        return self._module.launch(name, Items(sizes[0]), field, *arrays, self.clock, *sizes)
