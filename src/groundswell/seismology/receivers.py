"""Receivers of a case and their positions in the region."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain
from typing import Any

from groundswell.errors import InputError
from groundswell.seismology.case.grid import GridSection
from groundswell.seismology.case.sources import Receiver as StationSection
from groundswell.seismology.case.sources import long_codes, repeated_codes, wrong_instrument
from groundswell.seismology.formats.stations import read_stations

# Names of the quantities that each kind of instrument records; see formats/seismograms.py.
RECORDED = {
    "seismometer": ("velocity",),
    "hydrophone": ("pressure",),
    "ocean-bottom-node": ("velocity", "pressure"),
}


@dataclass(frozen=True)
class Receiver:
    """A station, its position (x, y, depth) in the region, m, and its kind of instrument."""

    network: str
    name: str
    position: tuple[float, float, float]
    longitude: float | None = None
    latitude: float | None = None
    kind: str = "seismometer"


def instruments(kind: str, count: int) -> str:
    """A number of instruments of a kind, such as "3 ocean-bottom nodes"."""
    noun = kind.replace("-node", " node")
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def that_record(quantity: str, receivers: Iterable[Receiver]) -> list[Receiver]:
    """The receivers that record a quantity, "velocity" or "pressure"."""
    return [receiver for receiver in receivers if quantity in RECORDED[receiver.kind]]


def place_receivers(case: Any) -> list[Receiver]:
    """The receivers listed in a case, followed by those of its station file.

    Raises:
        InputError: a station of the file lies outside the region or above the surface, has a
            longitude and latitude in a case without geography, repeats another, has codes that are
            too long for the formats of seismograms, or a kind that the solver does not have.
    """
    from_file = read_stations(case.resolve(case.receivers.file)) if case.receivers else []
    for station in from_file:
        problems = chain(
            case.grid.misplaced(station),
            long_codes(station, case.output.seismograms.formats),
            wrong_instrument(station, case.instruments),
        )
        for (key,), problem in problems:
            value = getattr(station, str(key))
            raise InputError(f"station {station.code}: {key} = {value}: it {problem}")
    stations = [*case.receiver, *from_file]
    for (n, *_), _ in repeated_codes(stations):
        raise InputError(f"station {stations[int(n)].code} is given twice; names must differ")
    return [_place(station, case.grid) for station in stations]


def _place(station: StationSection, grid: GridSection) -> Receiver:
    longitude, latitude = station.longitude, station.latitude
    x, y, depth = grid.locate(station)
    if grid.frame is not None and not station.geographic:
        longitude, latitude = map(float, grid.frame.to_lonlat(x, y))
    place = ((x, y, depth), longitude, latitude)
    return Receiver(station.network, station.name, *place, kind=station.kind)
