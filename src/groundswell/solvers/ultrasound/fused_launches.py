"""Launches of the fused step: passes over rows along x, and over planes of the spectra."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from groundswell.arrays import DeviceArray, HostArray, Integers
from groundswell.backends import Backend, Blocks, Constant, Items, Launch, Source
from groundswell.solvers.ultrasound.fields import AXES
from groundswell.solvers.ultrasound.fused_coefficients import FusedCoefficients
from groundswell.solvers.ultrasound.line_transforms import FILES, TILINGS, Passes
from groundswell.solvers.ultrasound.rows import WindowRows

KERNELS = Path(__file__).parent / "kernels"
ROW_FIELDS = {"accelerate": 3}  # fields whose rows blocks process separately; 1 by default
ROW_TILES = {"compress": 3, "find_pressure": 2}  # rows in shared memory per row; 1 by default
Kind = Literal["own", "boundary", "interior", "local", "mixed"]  # of rows, see `WindowRows`


class LinePasses:
    """The compiled kernels of the passes, and their launches.

    Args:
        backend: a GPU.
        passes: how passes divide the grid.
        rows: the rows of the window.
        coefficients: tables that the kernels read.
        constants: function of the name of a file of kernels, which returns its constants.
    """

    def __init__(
        self,
        backend: Backend,
        passes: Passes,
        rows: WindowRows,
        coefficients: FusedCoefficients,
        constants: Callable[[str], Mapping[str, Constant]],
    ) -> None:
        self._backend, self._passes, self._rows = backend, passes, rows
        self._coefficients = coefficients
        self._modules = {
            file: backend.compile(Source(KERNELS / f"{file}.h", constants(file)))
            for file in TILINGS
        }

    # --- passes along x ---------------------------------------------------------------------------

    def along_x(
        self, name: str, kind: Kind, *arguments: DeviceArray | int, **named: DeviceArray | int
    ) -> list[Launch]:
        """The launch of a pass over the rows of a kind; none if there are no such rows.

        Args:
            arguments, named: arguments of the kernel, without those that all passes have.
        """
        rows, count = self._lists[kind], len(getattr(self._rows, kind))
        rows_of_fields = ROW_FIELDS.get(name, 1) * count
        extent = self._passes.row_blocks(FILES[name], rows_of_fields, ROW_TILES.get(name, 1))
        named |= {"roots": self._coefficients.roots, "twiddles": self._coefficients.twiddles[0]}
        launch = self._modules[FILES[name]].launch
        return [launch(name, extent, *arguments, **named, rows=rows, count=count)] if count else []

    def forward(self, kind: Kind, array: DeviceArray, spectrum: DeviceArray) -> list[Launch]:
        """Transform the rows of a kind."""
        return self.along_x("forward_x", kind, array, spectrum, *self._coefficients.bells)

    def forward_all(self, array: DeviceArray, spectrum: DeviceArray) -> list[Launch]:
        """Transform all rows."""
        return [*self.forward("local", array, spectrum), *self.forward("mixed", array, spectrum)]

    @cached_property
    def _lists(self) -> dict[Kind, DeviceArray]:
        """Numbers of the rows of each kind; kernels read them only if there are overlaps."""
        unused = np.zeros(1, np.int32)
        listed: dict[Kind, HostArray] = {
            kind: getattr(self._rows, kind) if self._rows.has_overlaps else unused
            for kind in get_args(Kind)
        }
        return {kind: self._backend.to_device(rows) for kind, rows in listed.items()}

    # --- passes along y and z ---------------------------------------------------------------------

    def along_planes(self, name: str, extent: Blocks, *arrays: DeviceArray) -> Iterator[Launch]:
        """The launches of passes along y and z."""
        launch = self._modules["planes"].launch
        yield launch("clear_counts", Items(self._counts.size), self._counts, self._counts.size)
        yield launch(name, extent, *arrays, *self._coefficients.twiddles[1:], self._counts)

    @cached_property
    def _counts(self) -> DeviceArray:
        """Numbers of blocks that have finished the first two passes over each segment and field.

        There are up to three fields. The last entry is the number of blocks that have started.
        """
        return self._backend.zeros((2 * len(AXES) * self._passes.segments + 1,), np.uint32)

    # --- sources ----------------------------------------------------------------------------------

    def correct_source(self, spectrum: DeviceArray) -> Iterator[Launch]:
        """Apply the k-space correction to the spectrum of a source along x."""
        extent, squares = self._passes.plane_blocks(3, 1), self._coefficients.squares
        yield from self.along_planes("correct_source", extent, spectrum, *squares)

    def erase(self, array: DeviceArray, points: Integers) -> Launch:
        """Launch that resets an array to zero at points, given by flat indices."""
        places = self._backend.to_device(np.ascontiguousarray(points, np.int64))
        launch, count = self._modules[FILES["erase"]].launch, len(points)
        return launch("erase", Items(count), array, places, count)
