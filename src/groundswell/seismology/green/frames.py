"""Geographies as attributes of files."""

from __future__ import annotations

import json

from groundswell.grids.geography import Geography

FRAME, SHIFT = "frame", "frame_depth"  # the map of longitudes, and what is added to depths, m


def write_frame(geography: Geography) -> str:
    """A geography as text."""
    parts = geography.projection, geography.corner, geography.azimuth, geography.size
    return json.dumps(parts)


def read_frame(text: str) -> Geography:
    """The geography that `write_frame` has written."""
    projection, (east, north), azimuth, (x, y) = json.loads(text)
    return Geography(str(projection), (east, north), float(azimuth), (x, y))
