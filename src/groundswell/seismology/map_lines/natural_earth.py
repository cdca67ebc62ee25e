"""Coasts and borders of Natural Earth, which cartopy downloads."""

from __future__ import annotations

from pathlib import Path

from groundswell.backends.cache import KernelCache, default_folder
from groundswell.errors import InputError, install, quoted
from groundswell.seismology.map_lines.geojson import read_geojson, write_geojson
from groundswell.seismology.map_lines.lines import Lines
from groundswell.seismology.map_lines.shapefiles import read_shapefile

NAMES = {
    "coastlines": ("physical", "coastline"),
    "borders": ("cultural", "admin_0_boundary_lines_land"),
}
_SCALE = "10m"  # the most detailed, 1 : 10,000,000


def read_natural_earth(name: str) -> Lines:
    """The lines of this name, degrees; downloaded once, and kept in the user's cache.

    The cache takes a lock, so that ranks which start together do not all download.

    Raises:
        InputError: cartopy is missing, or cannot download them.
        BackendError: the cache cannot be written.
    """
    entry = f"natural-earth-{_SCALE}-{name}.json"
    cache = KernelCache(default_folder())
    return read_geojson(cache.get(entry, lambda path: write_geojson(path, _download(name))))


def _download(name: str) -> Lines:
    try:
        from cartopy.io.shapereader import natural_earth
    except ImportError:
        raise InputError(
            f"map_lines {quoted(name)} needs cartopy; {install('maps')}, or give a file of lines"
        ) from None
    category, layer = NAMES[name]
    try:
        path = natural_earth(resolution=_SCALE, category=category, name=layer)
    except OSError as error:  # of the network, too
        raise InputError(
            f"map_lines {quoted(name)}: cartopy cannot download them ({error}); run the case once "
            "on a computer with access to the network and the same cache folder, or give a file"
        ) from None
    return read_shapefile(Path(path))
