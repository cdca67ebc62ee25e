"""SEG-Y files of volumes and lines, written by segyio."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

segyio = pytest.importorskip("segyio")

Numbers = dict[int, int]  # of a trace's header, by their first byte


def no_coordinates(inline: int, crossline: int) -> Numbers:
    return {}


def write_segy(
    path: Path,
    values: Any,
    inlines: Any = (1,),
    crosslines: Any = (1,),
    header: Callable[[int, int], Numbers] = no_coordinates,
    binary: Numbers | None = None,
    *,
    code: int = 5,
    endian: str = "big",
) -> Path:
    """Write values (inline, crossline, sample) with samples of a format, 10 m apart."""
    spec = segyio.spec()
    spec.sorting, spec.format, spec.endian = 2, code, endian
    spec.samples = np.arange(values.shape[2], dtype=float)
    spec.ilines, spec.xlines = list(inlines), list(crosslines)
    with segyio.create(path, spec) as file:
        pairs = [(i, c) for i in inlines for c in crosslines]
        for n, (inline, crossline) in enumerate(pairs):
            file.header[n] = {189: inline, 193: crossline, **header(inline, crossline)}
            file.trace[n] = values.reshape(-1, values.shape[2])[n].astype(file.dtype)
        file.bin.update({3217: 10, 3221: values.shape[2], **(binary or {})})
    return path


def read_segy(path: Path, endian: str = "big") -> Any:
    """Values (trace, sample) as segyio reads them."""
    with segyio.open(path, ignore_geometry=True, endian=endian) as file:
        return segyio.tools.collect(file.trace[:])
