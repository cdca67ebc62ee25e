"""Lines in shapefiles, read with pyshp: lines and the outlines of polygons."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

from groundswell.errors import InputError, install
from groundswell.formats.damage import read_errors_reported
from groundswell.formats.text import read_text
from groundswell.seismology.map_lines.lines import Lines, as_line, to_degrees


def read_shapefile(path: Path) -> Lines:
    """The lines of a shapefile (.shp), degrees; a file .prj beside it names another system.

    Raises:
        InputError: pyshp is missing, or the file is missing or damaged.
    """
    try:
        import shapefile
    except ImportError:
        raise InputError(f"{path}: reading shapefiles needs pyshp; {install('maps')}") from None
    with read_errors_reported(path, "a shapefile"), path.open("rb") as file:
        # Without .dbf and .shx: only the geometry counts.
        with shapefile.Reader(shp=file) as reader:
            parts = [part for shape in reader.iterShapes() for part in _parts(shape)]
        lines = [as_line(part, path) for part in parts]
    projection = path.with_suffix(".prj")
    system = read_text(projection, "a coordinate system") if projection.exists() else None
    return to_degrees(lines, system, path)


def _parts(shape: Any) -> list[Any]:
    """The points of each line of a shape; none of points."""
    points, starts = getattr(shape, "points", []), getattr(shape, "parts", None)
    if not starts:
        return []
    return [points[start:end] for start, end in pairwise([*starts, len(points)])]
