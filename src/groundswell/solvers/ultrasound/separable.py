"""Additive sources as sums of terms: products of a field and a signal.

The k-space correction of additive sources is linear and does not depend on time. If few signals
suffice, it is applied once to the field of each term, and not at every step to the whole source.
One signal is enough for a transducer with one element, or with elements that differ by factors.
Steady waves of one frequency, of elements with any phases, need two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike

from groundswell.arrays import DeviceArray, Floats, Integers
from groundswell.backends import Backend, Launch
from groundswell.backends.base import in_order
from groundswell.solvers.ultrasound.device_coefficients import DeviceCoefficients
from groundswell.solvers.ultrasound.point_source import PointSource

MOST_TERMS = 4  # of a field; each needs one array on the device, and a pass over it
TOLERANCE = {4: 5e-7, 8: 1e-11}  # of values by size, relative; allows for the rounding of phases
SAMPLED = 32  # signals by which many are judged first
SPARE = 4  # random combinations of signals beyond the largest rank, which show if it is larger


@dataclass(frozen=True)
class Term:
    """A signal that is added to a field at some points.

    Args:
        field: name of the field, see `PointSource`.
        points: indices into the flattened field, (points,).
        weights: factor at each point, (points,).
        signal: the signal, (samples,).
    """

    field: str
    points: Integers
    weights: Floats
    signal: Floats

    @property
    def weights_alone(self) -> PointSource:
        """A source that adds the weights once, at the first step."""
        return PointSource(self.field, self.points, self.weights[None], "uncorrected")


def separate(
    sources: Iterable[PointSource], dtype: DTypeLike
) -> tuple[list[Term], list[PointSource]]:
    """Terms of the additive sources that need few of them, and the other sources.

    Terms act before the other sources. An additive source that follows one that sets the values of
    the same field is therefore left as it is.

    Args:
        dtype: floating-point type of the fields, which determines the accuracy.
    """
    found: list[Term] = []
    others: list[PointSource] = []
    for source in sources:
        room = MOST_TERMS - sum(term.field == source.field for term in found)
        is_late = any(o.mode == "dirichlet" and o.field == source.field for o in others)
        separable = source.mode == "additive" and not is_late
        terms = _terms(source, room, dtype) if separable else None
        if terms is None:
            others.append(source)
        else:
            found += terms
    return found, others


def _terms(source: PointSource, most: int, dtype: DTypeLike) -> list[Term] | None:
    """The terms of a source; None if there are more than `most`."""
    signals = np.asarray(source.signals).reshape(len(source.signals), -1)
    tolerance = max(TOLERANCE[np.dtype(kind).itemsize] for kind in (dtype, signals.dtype))
    scales = abs(source.matrix).max(axis=0).toarray().ravel()
    few = slice(None, None, max(signals.shape[1] // SAMPLED, 1))
    if not most or _basis(signals[:, few] * scales[few], most, tolerance) is None:
        return None
    basis = _basis(signals * scales, most, tolerance)
    if basis is None:
        return None
    weights = source.matrix @ (basis.T @ signals).T
    terms = zip(weights.T, basis.T, strict=True)
    return [Term(source.field, source.points, weight, signal) for weight, signal in terms]


def _basis(signals: Floats, most: int, tolerance: float) -> Floats | None:
    """Orthonormal columns that span signals (samples, n), (samples, rank); None if rank > `most`.

    Random combinations of the signals suffice to find it (Halko, Martinsson & Tropp 2011, SIAM Rev.
    53, 217-288).

    Args:
        most: largest rank.
        tolerance: smallest singular value that counts, relative to the largest one.
    """
    count = signals.shape[1]
    mixed = signals
    if count > most + SPARE:
        mixed = signals @ np.random.default_rng(0).standard_normal((count, most + SPARE))
    columns, sizes, _ = np.linalg.svd(mixed, full_matrices=False)
    rank = int(np.sum(sizes > tolerance * sizes[0]))
    return columns[:, :rank] if rank <= most else None


class DeviceTerms:
    """Terms on a device, after the k-space correction.

    Args:
        backend: the device.
        coefficients: copies coefficients to the device.
        terms: the terms, in the order of the arrays.
        shape: shape of the fields.
        correct: function of a term and an array of zeros; returns launches that write the corrected
            field of the term to the array.

    Attributes:
        fields: (terms, *shape).
        signals: (samples, terms).
        samples: number of samples.
    """

    def __init__(
        self,
        backend: Backend,
        coefficients: DeviceCoefficients,
        terms: Sequence[Term],
        shape: tuple[int, ...],
        correct: Callable[[Term, DeviceArray], Iterable[Launch]],
    ) -> None:
        self.fields = backend.zeros((len(terms), *shape) if terms else (1,), coefficients.dtype)
        self.samples = max((len(term.signal) for term in terms), default=0)
        signals = np.zeros((self.samples + 1, max(len(terms), 1)))
        for n, term in enumerate(terms):
            signals[: len(term.signal), n] = term.signal
            in_order(list(correct(term, self.fields[n])))()
        self.signals = coefficients(signals)
