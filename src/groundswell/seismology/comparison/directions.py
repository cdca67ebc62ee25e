"""Directions of observed components, and components towards east, north and up.

Sensors in boreholes and on the sea floor have horizontal components 1 and 2 in any direction. The
azimuths and dips of channels in StationXML, or in headers of SAC, say which.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from groundswell.arrays import Floats
from groundswell.errors import InputError
from groundswell.seismology.formats.obspy_files import read_with_obspy

Direction = tuple[float, float]  # azimuth clockwise from north, dip down from horizontal, degrees
NUMBERED = frozenset("123")  # codes of components in any direction
_NAMED: Mapping[str, Direction] = {"E": (90.0, 0.0), "N": (0.0, 0.0), "Z": (0.0, -90.0)}
AXES = ("E", "N", "Z")
# Components are independent if the smallest singular value exceeds this part of the largest, as it
# does for directions 12 degrees apart.
_INDEPENDENT = 0.1
_ROUNDING = 1e-9


def read_directions(inventory: Any) -> Any:
    """The ObsPy inventory of a file of StationXML, or the inventory itself; None for None.

    Raises:
        InputError: ObsPy is not installed, or the file cannot be read.
    """
    if isinstance(inventory, str | Path):
        found, _ = read_with_obspy(inventory, "read_inventory", "StationXML", "write it again")
        return found
    if inventory is not None and not hasattr(inventory, "networks"):
        raise InputError(
            f"an inventory of the type {type(inventory).__name__} is unknown; give a file of "
            "StationXML or an ObsPy inventory"
        )
    return inventory


def direction_of(trace: Any, inventory: Any) -> Direction | None:
    """The direction of an ObsPy trace by an inventory or else, for components 1 to 3, by SAC.

    None if it is not known, or is that of the orientation code.
    """
    stats = trace.stats
    found = [*_channels(stats, inventory)] if inventory is not None else []
    if found:
        return float(found[-1].azimuth), float(found[-1].dip)
    header = stats.get("sac", {})
    if stats.channel[-1:] not in NUMBERED or not {"cmpaz", "cmpinc"} <= header.keys():
        return None
    return float(header["cmpaz"]), float(header["cmpinc"]) - 90.0  # from up, as SAC defines it


def _channels(stats: Any, inventory: Any) -> list[Any]:
    """The channels with a direction that recorded a trace, the last epoch last."""
    return [
        channel
        for network in inventory
        for station in network
        for channel in station
        if (not stats.network or network.code == stats.network)
        and (station.code, channel.code) == (stats.station, stats.channel)
        and (channel.location_code or "").strip(" -") == stats.location.strip(" -")
        and channel.azimuth is not None
        and channel.dip is not None
        and channel.is_active(time=stats.starttime)
    ]


def towards_axes(
    motion: Mapping[str, Floats], directions: Mapping[str, Direction | None]
) -> dict[str, Floats]:
    """Motion by component with E, N and Z instead of components of other directions.

    Components that cannot be made from those given are left out.

    Args:
        motion: (n,) by orientation code.
        directions: by orientation code; None for that of the code.
    """
    if not any(directions.values()):
        return dict(motion)
    oriented = [code for code in motion if directions[code] or code in _NAMED]
    inverse, known = _inverse(_given(oriented, directions))
    found = {code: of for code, of in motion.items() if code not in oriented}
    if oriented:
        towards = inverse @ np.stack([motion[code] for code in oriented])
        found |= {axis: towards[n] for n, axis in enumerate(AXES) if known[n]}
    return found


def useless(directions: Mapping[str, Direction | None]) -> list[str]:
    """Orientation codes of components that do not give the motion towards E, N or Z.

    Args:
        directions: by orientation code; None for that of the code.
    """
    oriented = [code for code in directions if directions[code] or code in _NAMED]
    _, known = _inverse(_given(oriented, directions))
    axes = [axis for axis, is_known in zip(AXES, known, strict=True) if is_known]
    return [code for code in oriented if code not in axes] if len(axes) < len(oriented) else []


def _given(codes: Sequence[str], directions: Mapping[str, Direction | None]) -> list[Direction]:
    return [directions[code] or _NAMED[code] for code in codes]


def _inverse(directions: Sequence[Direction]) -> tuple[Floats, Floats]:
    """The matrix from components to E, N and Z, (3, n), and which of the three it gives, (3,)."""
    azimuth, dip = np.radians(np.array(directions, float).reshape(-1, 2)).T
    level = np.cos(dip)
    matrix = np.stack([np.sin(azimuth) * level, np.cos(azimuth) * level, -np.sin(dip)], axis=1)
    inverse = np.linalg.pinv(matrix, rcond=_INDEPENDENT)
    return inverse, np.abs(np.diag(inverse @ matrix) - 1) < _ROUNDING
