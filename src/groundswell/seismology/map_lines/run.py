"""Lines of a run: those of the case within its region, in a file of the results folder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from groundswell.grids.geography import Geography
from groundswell.seismology.map_lines.files import Source, lines_within, read_lines
from groundswell.seismology.map_lines.geojson import read_geojson, write_geojson
from groundswell.seismology.map_lines.lines import Bounds, Lines, clipped

LINES = "map_lines.geojson"


def require_lines(sources: Iterable[Source]) -> None:
    """Raise `InputError` if lines of a case cannot be read."""
    for source in sources:
        read_lines(source)


def line_warnings(sources: Iterable[Source], geography: Geography | None) -> Iterator[str]:
    """Sources without a line in the region, or near it."""
    if geography is not None:
        yield from far_lines(sources, Bounds.of_region(geography))


def far_lines(sources: Iterable[Source], bounds: Bounds) -> Iterator[str]:
    """Yield a note for each source without a line on a map."""
    west, east, south, north = bounds
    for source in sources:
        if not clipped(read_lines(source), bounds):
            yield (
                f"output.map_lines: no line of {Path(source).name} is on the map, at longitudes "
                f"from {west:.5g} to {east:.5g} and latitudes from {south:.5g} to {north:.5g}; "
                "check its coordinates, or leave it out"
            )


def write_lines(folder: Path, sources: Sequence[Source], geography: Geography | None) -> list[Path]:
    """Write `map_lines.geojson`: the lines of a case in its region, which its pictures show."""
    if not sources or geography is None:
        return []
    lines = lines_within(sources, Bounds.of_region(geography))
    return [write_geojson(folder / LINES, lines)]


def lines_of(results: Path, others: Sequence[Source] | None, bounds: Bounds) -> Lines:
    """The lines that the pictures of a results folder show, degrees.

    Args:
        others: show these instead of those of the run.
        bounds: of the map.

    Raises:
        InputError: lines cannot be read.
    """
    if others is not None:
        return lines_within(others, bounds)
    path = results / LINES
    return clipped(read_geojson(path), bounds) if path.exists() else []
