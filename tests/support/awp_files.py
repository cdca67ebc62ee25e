"""Writers of AWP-ODC files, the inverse of the package's readers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from groundswell.seismology.formats.awp import VARIABLES, AwpSource


def write_awp_source(path: Path, source: AwpSource, format: str = "binary") -> None:
    """Write a source in a format of `read_awp_source`."""
    record = np.dtype([("point", "<i4", 3), ("rates", "<f4", source.rates.shape[1:])])
    records = np.empty(len(source.points), record)
    records["point"], records["rates"] = source.points, source.rates
    if format == "binary":
        records.tofile(path)
        return
    with path.open("wb") as file:
        for record in records:
            np.savetxt(file, record["point"][None], "%d")
            np.savetxt(file, record["rates"], "%.9g")


def write_awp_mesh(
    path: Path, planes: Iterable[Mapping[str, ArrayLike]], variables: int = 3
) -> None:
    """Write planes as returned by `AwpMesh.plane`, with zeros for the coordinates of a point."""
    names = VARIABLES[variables]
    with path.open("wb") as file:
        for plane in planes:
            zero = np.zeros(np.shape(plane["vp"]))
            columns = [plane[name] if name else zero for name in names]
            file.write(np.stack(columns, axis=-1).astype("<f4").tobytes())
