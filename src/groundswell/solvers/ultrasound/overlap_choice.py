"""The overlaps of the blocks of ranks, and their expected error."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, log10

import numpy as np

from groundswell.errors import InputError
from groundswell.grids.cartesian import Grid, Triple
from groundswell.solvers.ultrasound.case import OverlapSection
from groundswell.solvers.ultrasound.fast_sizes import cheapest_margin
from groundswell.solvers.ultrasound.overlap_error import OverlapError, SourceLines, source_tail
from groundswell.solvers.ultrasound.point_source import PointSource
from groundswell.solvers.ultrasound.window import bell, bell_shape, overlap_for

MORE_OVERLAP = 8  # points by which an overlap may grow for faster transforms
# If no overlap gives the accuracy, the least possible error times SLACK bounds the accuracy that a
# message suggests, and times DEFAULT_SLACK the error of the overlap of cases that set no accuracy.
SLACK, DEFAULT_SLACK = 1.25, 2.0
REASONS = {
    "overlap": "the waves have few points per wavelength; refine the grid",
    "sources": (
        "blocks lack part of the field around sources; divide other axes (run.processes), or move "
        "sources away from the boundaries of blocks"
    ),
    "interfaces": "the medium has interfaces, at which fields are not smooth; refine the grid",
    "harmonics": "the grid does not resolve the harmonics; refine it",
    "absorption": "power-law absorption is not local; use a power closer to 2",
}


@dataclass(frozen=True)
class AxisOverlap:
    """Chooses the overlap of blocks along an axis.

    Args:
        error: estimate of the error.
        lines: the source points along the axis.
        boundaries: index of the first point of each block.
        most: largest overlap, points.
    """

    error: OverlapError
    lines: Sequence[SourceLines]
    boundaries: Sequence[int]
    most: int

    def causes(self, overlap: int) -> Mapping[str, float]:
        """Estimated error by cause; see `OverlapError.causes`."""
        shape = bell_shape(overlap, self.error.shape_wavenumber)
        tail = source_tail(self.lines, self.boundaries, bell(overlap, shape))
        return self.error.causes(overlap, tail)

    def estimate(self, overlap: int) -> float:
        """Estimated error of the pressure, relative to the largest pressure."""
        return sum(self.causes(overlap).values())

    def choose(self, accuracy: float, least: int, slack: float) -> int:
        """The smallest overlap, from `least` on, that gives an accuracy.

        If none does, the smallest one whose error is at most `slack` times the least possible.
        """
        most = max(self.most, least)
        possible = self.estimate(most)
        wanted = accuracy if possible <= accuracy else slack * possible
        wider = range(least, most)
        return least + bisect(wider, False, key=lambda n: self.estimate(n) <= wanted)


class Overlaps:
    """The overlaps of a case.

    Args:
        section: the section `[overlap]`.
        grid: the grid.
        sources: the time-dependent sources.
        error: estimate of the error.
    """

    def __init__(
        self,
        section: OverlapSection,
        grid: Grid,
        sources: Sequence[PointSource],
        error: OverlapError,
    ) -> None:
        self._section, self._grid, self.error = section, grid, error
        self._sources = sources
        self._found: dict[tuple[int, ...], Triple] = {}
        self._lines: dict[int, list[SourceLines]] = {}

    def of(self, ranks: Sequence[int]) -> Triple:
        """Overlaps along x, y and z: wide enough for the accuracy, and fast to transform.

        Args:
            ranks: number of ranks along x, y and z; there is no overlap along an axis with one.
        """
        key = tuple(ranks)
        if key not in self._found:
            x, y, z = (self._along(axis, parts) for axis, parts in enumerate(ranks))
            self._found[key] = x, y, z
        return self._found[key]

    def _along(self, axis: int, parts: int) -> int:
        if parts == 1:
            return 0
        least, cells = self._least(axis, parts), self._grid.cells[axis]
        margins = range(least, max(min(least + MORE_OVERLAP, cells // parts), least) + 1)
        return cheapest_margin({cells // parts, -(-cells // parts)}, margins)

    def _least(self, axis: int, parts: int) -> int:
        """Minimum overlap along an axis, points."""
        if self._section.points is not None:
            return self._section.points
        accuracy = self._section.accuracy
        slack = SLACK if self._asks_for_accuracy else DEFAULT_SLACK
        return self._axis(axis, parts).choose(accuracy, overlap_for(accuracy), slack)

    def _axis(self, axis: int, parts: int) -> AxisOverlap:
        cells = self._grid.cells[axis]
        boundaries = (np.arange(parts) * cells // parts).tolist()  # as in `Decomposition`
        return AxisOverlap(self.error, self._lines_along(axis), boundaries, cells // parts)

    def _lines_along(self, axis: int) -> list[SourceLines]:
        """Source points along an axis."""
        if axis not in self._lines:
            shape = self._grid.shape
            self._lines[axis] = [SourceLines.of(s, shape, axis) for s in self._sources]
        return self._lines[axis]

    # --- the error --------------------------------------------------------------------------------

    def causes(self, ranks: Sequence[int]) -> Mapping[str, float]:
        """Expected error by cause, along the axis with the largest; none on one rank."""
        overlaps = zip(range(3), ranks, self.of(ranks), strict=True)
        found = [self._axis(axis, n).causes(points) for axis, n, points in overlaps if n > 1]
        return max(found, key=lambda causes: sum(causes.values()), default={})

    def estimate(self, ranks: Sequence[int]) -> float:
        """Expected difference from the pressure of one rank, relative to the largest pressure."""
        return sum(self.causes(ranks).values())

    def require_accuracy(self, ranks: Sequence[int]) -> None:
        """Refuse an accuracy that the case asks for and that no overlap gives.

        Raises:
            InputError: names the accuracy that is attainable.
        """
        if self._asks_for_accuracy and (shortfall := self._shortfall(ranks)):
            raise InputError(f"{shortfall}, or give overlap.points, or use one rank")

    def warnings(self, ranks: Sequence[int]) -> Iterator[str]:
        """A warning if the default accuracy cannot be expected."""
        if not self._asks_for_accuracy and (shortfall := self._shortfall(ranks)):
            yield shortfall

    @property
    def _asks_for_accuracy(self) -> bool:
        return "accuracy" in self._section.model_fields_set

    def _shortfall(self, ranks: Sequence[int]) -> str:
        """The expected error, its cause and the cure; empty if an overlap gives the accuracy."""
        causes, wanted = self.causes(ranks), self._section.accuracy
        estimate = sum(causes.values())
        if self._section.points is not None or estimate <= wanted:
            return ""
        digit = 10.0 ** (ceil(log10(estimate)) - 2)
        attainable = short(ceil(estimate / digit) * digit)
        reason = REASONS[max(causes, key=lambda cause: causes[cause])]
        return (
            f"on {int(np.prod(ranks))} ranks, the pressure may differ from that of one rank by "
            f"{attainable} of the largest pressure, more than overlap.accuracy = {short(wanted)}: "
            f"{reason}, or accept overlap.accuracy = {attainable}"
        )


def short(number: float) -> str:
    """A small number with at most two digits, such as 1.1e-4."""
    mantissa, exponent = f"{number:.1e}".split("e")
    return f"{mantissa.removesuffix('.0')}e{int(exponent)}"
