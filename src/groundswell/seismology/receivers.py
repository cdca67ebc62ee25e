"""Receivers of a case and their positions in the region."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

from groundswell.case.quantities import Quantity
from groundswell.errors import CaseProblem, InputError, counted
from groundswell.seismology.case.grid import GridSection
from groundswell.seismology.case.receivers import Receiver as StationSection
from groundswell.seismology.case.receivers import ReceiverFile, long_codes, wrong_instrument
from groundswell.seismology.formats.stations import (
    ListedStation,
    read_stations,
    reject_stations,
)

_SHOWN = 5  # number of skipped stations that are named

# Names of the quantities that each kind of instrument records; see formats/seismograms.py.
RECORDED = {
    "seismometer": ("velocity",),
    "hydrophone": ("pressure",),
    "ocean-bottom-node": ("velocity", "pressure"),
}


@dataclass(frozen=True)
class Station:
    """A station, its position (x, y, depth) in the region, m, and its kind of instrument.

    `location`, `channel` (band and instrument), `elevation` (of the ground, m) and `water_depth`
    (m; None if unknown) are for output files; see `Receiver` and `with_water_depths`.
    """

    network: str
    name: str
    position: tuple[float, float, float]
    longitude: float | None = None
    latitude: float | None = None
    kind: str = "seismometer"
    location: str = ""
    channel: str = ""
    elevation: float | None = None
    water_depth: float | None = None


class PlacedReceivers(NamedTuple):
    """The receivers of a case, and the codes of those of its station file that it skips."""

    stations: list[Station]
    skipped: tuple[str, ...] = ()


def instruments(kind: str, count: int) -> str:
    """A number of instruments of a kind, such as "3 ocean-bottom nodes"."""
    noun = kind.replace("-node", " node")
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def that_record(quantity: str, receivers: Iterable[Station]) -> list[Station]:
    """The receivers that record a quantity, "velocity" or "pressure"."""
    return [receiver for receiver in receivers if quantity in RECORDED[receiver.kind]]


def place_receivers(case: Any) -> PlacedReceivers:
    """The receivers listed in a case, followed by those of its station file.

    Raises:
        CaseError: stations of the file lie outside the region, unless they are to be skipped, or
            above the surface, have a longitude and latitude in a case without geography, have codes
            that are too long for the formats of seismograms, or kinds that the solver does not
            have; lists up to ten problems.
    """
    sections: list[StationSection] = [*case.receiver]
    skipped: list[str] = []
    if case.receivers:
        listed, skipped = _from_file(case, case.receivers)
        sections += listed
    placed = [_place(section, case.grid) for section in sections]
    return PlacedReceivers(placed, tuple(skipped))


def skipped_receivers(skipped: Sequence[str], group: str) -> Iterator[Quantity]:
    """Yield how many stations of a file lie outside the region, if some do."""
    if skipped:
        names = ", ".join(skipped[:_SHOWN]) + ", ..." * (len(skipped) > _SHOWN)
        text = f"{counted(len(skipped), 'station')} of the file, outside the region: {names}"
        yield Quantity("skipped_receivers", len(skipped), "skipped", text=text, group=group)


def _from_file(case: Any, section: ReceiverFile) -> tuple[list[StationSection], list[str]]:
    """The stations of a file in the region, and the codes of those that are skipped."""
    found = read_stations(section, geographic=case.grid.geography is not None)
    inside: list[ListedStation] = []
    skipped: list[ListedStation] = []
    for station in found:
        skip = section.outside == "skip" and _is_outside(station.receiver, case.grid)
        (skipped if skip else inside).append(station)
    if not inside:
        raise InputError(
            f"{section.file.name}: all {counted(len(found), 'station')} lie outside the region; "
            "move the region, or choose other stations"
        )
    reject_stations([p for each in inside for p in _problems(each, case)], section.file.name)
    return [each.receiver for each in inside], [each.receiver.code for each in skipped]


def _is_outside(station: StationSection, grid: Any) -> bool:
    """Whether a station lies beside or below the region, or beyond its projection."""
    if station.depth < 0 or (station.geographic and grid.frame is None):
        return False  # mistakes, which are not skipped
    return any(True for _ in grid.misplaced(station))


def _problems(listed: ListedStation, case: Any) -> Iterator[CaseProblem]:
    """Yield what a case does not allow for a station of a file."""
    station = listed.receiver
    line = "" if listed.where == station.code else f"{listed.where}: "
    skip = ', or leave it out with outside = "skip"' * _is_outside(station, case.grid)
    violations = chain(
        ((at, f"{text}{skip}") for at, text in case.grid.misplaced(station)),
        long_codes(station, case.output.seismograms.formats),
        wrong_instrument(station, case.instruments),
    )
    for (key,), allowed in violations:
        value = str(getattr(station, str(key)))
        yield CaseProblem(f"{line}station {station.code}: {key}", value, allowed)


def _place(station: StationSection, grid: GridSection) -> Station:
    longitude, latitude = station.longitude, station.latitude
    x, y, depth = grid.locate(station)
    if grid.frame is not None and not station.geographic:
        longitude, latitude = map(float, grid.frame.to_lonlat(x, y))
    place = ((x, y, depth), longitude, latitude)
    more = {name: getattr(station, name) for name in ("kind", "location", "channel", "elevation")}
    return Station(station.network, station.name, *place, **more)
