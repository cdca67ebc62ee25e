"""Lines in KML (Google Earth): line strings and the outlines of polygons."""

from __future__ import annotations

from pathlib import Path

from groundswell.formats.xml import read_xml
from groundswell.seismology.map_lines.lines import Lines, as_line, to_degrees

_LINES = ("LineString", "LinearRing")


def read_kml(path: Path) -> Lines:
    """The lines of a file, degrees.

    Raises:
        InputError: the file cannot be read, or is not plain XML.
    """
    found = [each for each in read_xml(path).walk() if each.name in _LINES]
    texts = [child.text for each in found for child in each.all("coordinates")]
    lines = [as_line([point.split(",") for point in text.split()], path) for text in texts]
    return to_degrees(lines, None, path)
