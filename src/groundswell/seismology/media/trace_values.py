"""Values of the traces of a SEG-Y file on a grid, read in parts."""

from __future__ import annotations

import numpy as np
from xarray.core import indexing

from groundswell.arrays import HostArray, Indices
from groundswell.formats.stored_array import Key, StoredArray
from groundswell.seismology.formats.segy_reader import SegyFile

AT_ONCE = 2**24  # largest number of values that are read for more depths than asked for


class TraceValues(StoredArray):
    """The values (depth, y, x) of a file.

    A file holds all depths of a trace in one place, and a medium is read depth by depth. So further
    depths below those asked for are read with them, and kept until other traces are needed.

    Args:
        file: the traces.
        traces: number of the trace at each node, (y, x).
    """

    support = indexing.IndexingSupport.BASIC
    dtype = np.dtype(np.float32)

    def __init__(self, file: SegyFile, traces: Indices) -> None:
        self._file, self._traces = file, traces
        self.shape = (file.samples, *traces.shape)
        self._area: Key = ()
        self._block = range(0)  # depths of the values
        self._values: HostArray = np.empty(0, self.dtype)

    def _read(self, key: Key) -> HostArray:
        depths, rows, columns = (
            part if isinstance(part, slice) else slice(part, part + 1) for part in key
        )
        values = self._window((rows, columns), range(self.shape[0])[depths])
        return values[tuple(slice(None) if isinstance(part, slice) else 0 for part in key)]

    def _window(self, area: tuple[slice, slice], depths: range) -> HostArray:
        """The values of an area at ascending depths."""
        held = area == self._area and depths.stop <= self._block.stop
        if not (held and depths.start >= self._block.start):
            traces = self._traces[area]
            count = max(len(depths), AT_ONCE // max(1, traces.size))
            self._block = range(self.shape[0])[depths.start : depths.start + count]
            self._values = np.empty(0, self.dtype)  # its memory is free before more is read
            self._values = self._file.read(traces, slice(self._block.start, self._block.stop))
            self._area = area
        first = self._block.start
        return self._values[depths.start - first : depths.stop - first]
