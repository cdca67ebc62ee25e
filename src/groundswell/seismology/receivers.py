"""Receivers of a case and their positions in the region."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from groundswell.errors import InputError
from groundswell.grids.geography import Geography
from groundswell.seismology.case.sources import long_codes
from groundswell.seismology.formats.stations import Station, read_stations


@dataclass(frozen=True)
class Receiver:
    """A station and its position (x, y, depth) in the region, m."""

    network: str
    name: str
    position: tuple[float, float, float]
    longitude: float | None = None
    latitude: float | None = None


def place_receivers(case: Any, geography: Geography | None) -> list[Receiver]:
    """The receivers listed in a case, followed by those of its station file.

    Raises:
        InputError: a station lies outside the region or above the surface, has a longitude and
            latitude in a case without geography, repeats another, or has codes that are too long
            for the formats of seismograms.
    """
    listed = [
        Station(r.network, r.name, r.longitude, r.latitude, r.x, r.y, r.depth)
        for r in case.receiver
    ]
    from_file = read_stations(case.resolve(case.receivers.file)) if case.receivers else []
    receivers = [_place(station, geography, case.grid.size) for station in listed + from_file]
    names = [f"{r.network}.{r.name}" for r in receivers]
    for n, name in enumerate(names):
        if name in names[:n]:
            raise InputError(f"station {name} is given twice; names must differ")
        _require_short_codes(receivers[n], case.output.seismograms.formats)
    return receivers


def _require_short_codes(receiver: Receiver, formats: tuple[str, ...]) -> None:
    for (key,), allowed in long_codes(receiver, formats):
        raise InputError(
            f"station {receiver.network}.{receiver.name}: {key} = {getattr(receiver, str(key))!r} "
            f'{allowed}; shorten it, or write only "hdf5"'
        )


def _place(
    station: Station, geography: Geography | None, size: tuple[float, float, float]
) -> Receiver:
    located = _located(station, geography)
    position = (float(located.x or 0), float(located.y or 0), float(located.depth))
    if position[2] < 0:
        raise InputError(
            f"station {station.name} is {-position[2]:g} m above the surface; depth counts "
            "downwards from 0"
        )
    for axis, coordinate, extent in zip(("x", "y", "depth"), position, size, strict=True):
        if not 0 <= coordinate <= extent:
            raise InputError(
                f"station {station.name} lies outside the region: {axis} = {coordinate:.6g} m, "
                f"allowed is 0 to {extent:g} m; move it, or enlarge grid.size"
            )
    return Receiver(station.network, station.station, position, located.longitude, located.latitude)


def _located(station: Station, geography: Geography | None) -> Station:
    """The station with x and y, and with longitude and latitude if there is a geography."""
    if station.longitude is not None and station.latitude is not None:
        if geography is None:
            raise InputError(
                f"station {station.name} is given by longitude and latitude, but the case has no "
                "[grid.geography]; add it, or give x and y"
            )
        x, y = geography.to_grid(station.longitude, station.latitude)
        return replace(station, x=float(x), y=float(y))
    if geography is None or station.x is None or station.y is None:
        return station
    longitude, latitude = geography.to_lonlat(station.x, station.y)
    return replace(station, longitude=float(longitude), latitude=float(latitude))
