"""Receivers of a case and their positions in the region."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

from groundswell.errors import CaseError, CaseProblem
from groundswell.seismology.case.grid import GridSection
from groundswell.seismology.case.receivers import Receiver as StationSection
from groundswell.seismology.case.receivers import long_codes, wrong_instrument
from groundswell.seismology.formats.stations import read_stations

# Names of the quantities that each kind of instrument records; see formats/seismograms.py.
RECORDED = {
    "seismometer": ("velocity",),
    "hydrophone": ("pressure",),
    "ocean-bottom-node": ("velocity", "pressure"),
}


@dataclass(frozen=True)
class Station:
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


def that_record(quantity: str, receivers: Iterable[Station]) -> list[Station]:
    """The receivers that record a quantity, "velocity" or "pressure"."""
    return [receiver for receiver in receivers if quantity in RECORDED[receiver.kind]]


def place_receivers(case: Any) -> list[Station]:
    """The receivers listed in a case, followed by those of its station file.

    Raises:
        CaseError: stations of the file lie outside the region or above the surface, have a
            longitude and latitude in a case without geography, have codes that are too long for the
            formats of seismograms, or kinds that the solver does not have; lists all of them.
    """
    from_file = read_stations(case.resolve(case.receivers.file)) if case.receivers else []
    if problems := [problem for station in from_file for problem in _problems(station, case)]:
        raise CaseError(problems, case.receivers.file.name)
    return [_place(station, case.grid) for station in (*case.receiver, *from_file)]


def _problems(station: StationSection, case: Any) -> Iterator[CaseProblem]:
    """Yield what a case does not allow for a station of a file."""
    violations = chain(
        case.grid.misplaced(station),
        long_codes(station, case.output.seismograms.formats),
        wrong_instrument(station, case.instruments),
    )
    for (key,), allowed in violations:
        yield CaseProblem(
            f"station {station.code}: {key}", str(getattr(station, str(key))), allowed
        )


def _place(station: StationSection, grid: GridSection) -> Station:
    longitude, latitude = station.longitude, station.latitude
    x, y, depth = grid.locate(station)
    if grid.frame is not None and not station.geographic:
        longitude, latitude = map(float, grid.frame.to_lonlat(x, y))
    place = ((x, y, depth), longitude, latitude)
    return Station(station.network, station.name, *place, kind=station.kind)
