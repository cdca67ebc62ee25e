"""Local terms of the equations: point sources, and damping of all fields."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import DTypeLike, NDArray

from groundswell.arrays import Floats, Integers


@dataclass(frozen=True, eq=False)
class SourceHistory:
    """The time history of a source.

    Args:
        rates: rates of the fields per unit of its load and of its time function, (fields,).
        start, step: time of the first sample after the beginning of the run, and interval between
            samples, s.
        samples: samples of the time function.
    """

    rates: Floats
    start: float
    step: float
    samples: Floats


@dataclass(frozen=True, eq=False)
class ElementSource:
    """The part of a source in an element.

    Args:
        element: index of the element within the rank.
        load: at the nodes of the element, (nodes,).
        history: that of the source; its parts share the object.
    """

    element: int
    load: Floats
    history: SourceHistory


@dataclass(frozen=True, eq=False)
class Terms:
    """Sources and damping of a rank's elements.

    Args:
        degree: degree of the elements.
        fields: number of fields.
        count: number of elements.
        sources: parts of sources in ascending order of their elements.
        damped: row of each element in `decay`, or -1, (elements,).
        decay: rates of decay at the nodes of elements, (rows, nodes), 1/s.
    """

    degree: int
    fields: int
    count: int
    sources: Sequence[ElementSource] = ()
    damped: NDArray[np.int32] | None = None
    decay: Floats = field(default_factory=lambda: np.empty((0, 0)))

    @property
    def has_sources(self) -> bool:
        """Whether there are sources in these elements."""
        return bool(self.sources)

    @property
    def has_damping(self) -> bool:
        """Whether an element is damped."""
        return self.damped is not None

    def tables(self, dtype: DTypeLike) -> dict[str, NDArray[np.generic]]:
        """TERM_ARGUMENTS in kernels/terms.h, for a floating-point type."""
        sources = self.sources or [_NO_SOURCE]
        histories = list({id(source.history): source.history for source in sources}.values())
        numbers = {id(history): n for n, history in enumerate(histories)}
        lengths = [len(history.samples) for history in histories]
        nowhere = np.full(1, -1, np.int32)
        padding = np.zeros(self.degree + 1)  # kernels load whole vectors
        times = [(history.start, history.step) for history in histories]
        return {
            "first_part": self._first_sources(),
            "loads": np.append([source.load for source in sources], padding).astype(dtype),
            "numbers": np.array([numbers[id(source.history)] for source in sources], np.int64),
            "factors": np.array([history.rates for history in histories]).astype(dtype),
            "times": np.array(times, np.float64),
            "first_samples": np.cumsum([0, *lengths]).astype(np.int64),
            "samples": np.concatenate([history.samples for history in histories]).astype(dtype),
            "damped": nowhere if self.damped is None else self.damped,
            "decay": np.append(self.decay.ravel(), padding).astype(dtype),
        }

    def _first_sources(self) -> Integers:
        elements = [source.element for source in self.sources]
        return np.searchsorted(elements, np.arange(self.count + 1)).astype(np.int64)


# Kernels without sources do not read these tables.
_NO_SOURCE = ElementSource(0, np.zeros(1), SourceHistory(np.zeros(1), 0.0, 1.0, np.zeros(1)))
