"""SEG-Y files, revisions 0 to 2: headers and samples of traces of one length.

Society of Exploration Geophysicists (2002): SEG Y rev 1 Data Exchange format. Positions of bytes
count from 1, as in that document.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from groundswell.arrays import HostArray, Indices
from groundswell.errors import InputError, listed, reason_of

FEET = 2  # code of the measurement system
_FILE_HEADERS, _TRACE_HEADER = 3600, 240
_BINARY = {  # first byte and type of numbers in the file's header
    "interval": (3217, "u2"),
    "samples": (3221, "u2"),
    "format": (3225, "i2"),
    "measure": (3255, "i2"),
    "extended": (3505, "i2"),  # textual headers of 3200 bytes before the traces
}
_TRACE = {"scalar": (71, "i2"), "units": (89, "i2"), "delay": (109, "i2"), "samples": (115, "u2")}
_SAMPLES = {1: "u4", 2: "i4", 3: "i2", 5: "f4", 6: "f8", 8: "i1"}
_IBM = 1


class SegyFile:
    """The traces of a SEG-Y file, which are read when needed.

    Args:
        path: the file.
        fields: first byte of four-byte integers in trace headers, by name.

    Attributes:
        interval: interval of samples as in the header.
        samples: number of samples of each trace.
        in_feet: whether the header gives lengths in feet rather than metres.
        headers: the numbers of `fields` and `scalar`, `units` and `delay`, (traces,) each.

    Raises:
        InputError: the file is not SEG-Y, is truncated, or has an unknown format of samples.
    """

    def __init__(self, path: Path, fields: Mapping[str, int]) -> None:
        self.path = path
        order, header = _read_header(path)
        self.interval, self.samples = header["interval"], header["samples"]
        self.in_feet = header["measure"] == FEET
        self._format = header["format"]
        start = _FILE_HEADERS + 3200 * header["extended"]
        layout = _trace_layout({**_TRACE, **{n: (at, "i4") for n, at in fields.items()}}, order)
        sample = np.dtype(order + _SAMPLES[self._format])
        self._traces = self._map_traces(start, layout, sample)
        self.headers = {n: np.array(self._traces[n], np.int64) for n in layout}
        self._require_one_length()

    def _map_traces(
        self, start: int, layout: Mapping[str, tuple[str, int]], sample: np.dtype[np.generic]
    ) -> HostArray:
        length = _TRACE_HEADER + self.samples * sample.itemsize
        left = self.path.stat().st_size - start
        if self.samples < 2 or left < length or left % length:
            raise InputError(
                f"{self.path}: traces of {self.samples:,} samples have {length:,} bytes, and the "
                f"file has {max(left, 0):,} bytes after its headers, which is not a whole number "
                "of them; it is truncated, or its traces have several lengths; write it again"
            )
        names = {n: (np.dtype(kind), at) for n, (kind, at) in layout.items()}
        values = (np.dtype((sample, (self.samples,))), _TRACE_HEADER)
        fields = {**names, "values": values}
        record = np.dtype(
            {
                "names": list(fields),
                "formats": [kind for kind, _ in fields.values()],
                "offsets": [at for _, at in fields.values()],
                "itemsize": length,
            }
        )
        return np.memmap(self.path, record, "r", start, shape=(left // length,))

    def _require_one_length(self) -> None:
        given = self.headers.pop("samples")
        other = np.flatnonzero((given != 0) & (given != self.samples))
        if other.size:
            raise InputError(
                f"{self.path}: trace {other[0] + 1} has {given[other[0]]:,} samples and the file's "
                f"header {self.samples:,}; write all traces with one length"
            )

    def read(self, traces: Indices, samples: slice) -> HostArray:
        """Samples of traces at some numbers (rows, columns): (samples, rows, columns), float32."""
        values = self._traces["values"][:, samples]
        found = np.empty((values.shape[1], *traces.shape), np.float32)
        with np.errstate(over="ignore", invalid="ignore"):
            for row, chosen in enumerate(traces):  # little memory beside the result
                stored = values[chosen]
                found[:, row] = (_from_ibm(stored) if self._format == _IBM else stored).T
        return found


def _read_header(path: Path) -> tuple[str, dict[str, int]]:
    """The order of bytes, and the numbers of the file's header."""
    try:
        with path.open("rb") as file:
            content = file.read(_FILE_HEADERS)
    except OSError as error:
        raise InputError(f"{path}: cannot read SEG-Y: {reason_of(error)}") from None
    if len(content) < _FILE_HEADERS:
        raise InputError(f"{path}: {len(content)} bytes are too few for SEG-Y; write it again")
    for order in ">", "<":
        header = {
            name: int(np.frombuffer(content, order + kind, 1, at - 1)[0])
            for name, (at, kind) in _BINARY.items()
        }
        if header["format"] in _SAMPLES:
            break
    else:
        code = int.from_bytes(content[3224:3226], "big")
        raise InputError(
            f"{path}: samples have the format {code}; SEG-Y files are read with the formats "
            f"{listed(map(str, _SAMPLES))} (1: IBM, 5: IEEE floating point); convert it"
        )
    if header["extended"] < 0:
        raise InputError(f"{path}: the number of textual headers is not known; write it again")
    return order, header


def _trace_layout(fields: Mapping[str, tuple[int, str]], order: str) -> dict[str, tuple[str, int]]:
    """Type and offset of the fields of a trace's header."""
    return {name: (order + kind, at - 1) for name, (at, kind) in fields.items()}


def _from_ibm(stored: HostArray) -> HostArray:
    """IBM floating-point numbers, (-1)^s 16^(e - 64) f, as float32."""
    bits = stored.astype(np.uint32)
    exponent = 4 * ((bits >> 24) & 0x7F).astype(np.int32) - (4 * 64 + 24)
    size = np.ldexp((bits & 0xFFFFFF).astype(np.float32), exponent)
    return np.where(bits >> 31, -size, size)
