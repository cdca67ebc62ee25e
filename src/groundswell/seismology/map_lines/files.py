"""Files of lines, in formats by suffix, and lines that have a name."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from pathlib import Path

from groundswell.errors import InputError, listed, quoted, reason_of
from groundswell.seismology.map_lines.geojson import read_geojson
from groundswell.seismology.map_lines.gmt import read_gmt
from groundswell.seismology.map_lines.kml import read_kml
from groundswell.seismology.map_lines.lines import Bounds, Line, Lines, clipped
from groundswell.seismology.map_lines.natural_earth import NAMES, read_natural_earth
from groundswell.seismology.map_lines.shapefiles import read_shapefile

Source = str | Path  # of lines: a file, or a name of natural_earth.NAMES
READERS: dict[str, Callable[[Path], Lines]] = {
    ".geojson": read_geojson,
    ".json": read_geojson,
    ".gmt": read_gmt,
    ".txt": read_gmt,
    ".xy": read_gmt,
    ".dat": read_gmt,
    ".shp": read_shapefile,
    ".kml": read_kml,
}


def read_lines(source: Source) -> Lines:
    """The lines of a source, degrees.

    A file that has not changed is read once.

    Raises:
        InputError: the file is missing, damaged, of an unknown format or without lines, or a
            library that reads it is missing.
    """
    if str(source) in NAMES:
        return _named(str(source))
    path = Path(source)
    if path.suffix.lower() not in READERS:
        raise InputError(f"{quoted(str(source))}: {allowed()}")
    try:
        state = path.stat()
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot read lines of maps: {reason_of(error)}") from None
    return _from_file(path, state.st_mtime_ns, state.st_size)


def allowed() -> str:
    """What a source may be, for messages."""
    return f"must be a file {listed(READERS)}, or {listed(map(quoted, NAMES))}"


def lines_within(sources: Iterable[Source], bounds: Bounds) -> list[Line]:
    """The parts of the lines of all sources that a map shows; raises as `read_lines`."""
    return [part for source in sources for part in clipped(read_lines(source), bounds)]


@lru_cache(maxsize=4)
def _named(name: str) -> Lines:
    return read_natural_earth(name)


@lru_cache(maxsize=16)
def _from_file(path: Path, *_: int) -> Lines:
    lines = [line for line in READERS[path.suffix.lower()](path) if len(line) > 1]
    if not lines:
        raise InputError(f"{path} has no lines: no two points that belong together")
    return lines
