"""What maps of the surface have in common: lines, coarser values, and colours of cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from groundswell.plotting.map_frame import MapFrame
from groundswell.plotting.refinement import coloured_map
from groundswell.plotting.style import shades
from groundswell.seismology.map_lines.lines import Bounds
from groundswell.seismology.map_lines.run import lines_of

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh

Lines = Sequence[str | Path]  # files and names of lines, see `map_lines.files`
Values = np.ma.MaskedArray  # (ny, nx), masked where unknown

_RANGE = 100.0  # largest ratio of the values at the ends of a logarithmic colour bar
_MAX_CELLS = 1500  # along an axis; the picture resolves no more


def map_frame(surface: xarray.Dataset, results: Path, lines: Lines | None = None) -> MapFrame:
    """The frame of a map of results, with lines.

    Args:
        lines: files and names of lines to show; by default those of the run.

    Raises:
        InputError: lines cannot be read.
    """
    frame = MapFrame.of(surface)
    if frame.longitude is None:
        return frame
    return replace(frame, lines=lines_of(results, lines, Bounds.of(*frame.mesh)))


def coarsened(surface: xarray.Dataset) -> xarray.Dataset:
    """The map with at most `_MAX_CELLS` along an axis: maxima of blocks of cells."""
    steps = {d: -(-surface.sizes[d] // _MAX_CELLS) for d in ("y", "x")}
    if max(steps.values()) == 1:
        return surface
    blocks = surface.coarsen(steps, boundary="trim", coord_func="mean")
    return blocks.max(keep_attrs=True)


def shade(axes: Axes, frame: MapFrame, values: Values) -> QuadMesh:
    """Colour the map, on a logarithmic scale if the values span more than a decade."""
    from matplotlib.colors import LogNorm, Normalize

    highest = float(values.max()) if values.count() else 0.0
    lowest = float(np.percentile(values.compressed(), 1)) if values.count() else 0.0
    norm = Normalize(0, highest or 1)
    if highest > 10 * lowest:
        norm = LogNorm(max(lowest, highest / _RANGE), highest, clip=True)
    return coloured_map(axes, frame, values, norm=norm, cmap=shades())
