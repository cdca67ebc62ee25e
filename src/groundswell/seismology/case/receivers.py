"""Sections `[[receiver]]` and `[receivers]` of a case."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Annotated, Literal, Protocol

from pydantic import AfterValidator, Field

from groundswell.case.common import DataFile, Section
from groundswell.case.problems import Violation, reject
from groundswell.case.units import Length
from groundswell.errors import listed, quoted
from groundswell.seismology.case.grid import Position


def station_code(text: str) -> str:
    """Check a code of a network or station."""
    if not re.fullmatch(r"[A-Za-z0-9_-]*", text):
        reject([((), "must be letters, digits, - or _")])
    return text


def _location_code(text: str) -> str:
    """Check a location code; SEED's `--` stands for none."""
    if not re.fullmatch(r"[A-Za-z0-9]{0,2}|--", text):
        reject([((), "must be at most two letters or digits")])
    return text.strip("-")


def _channel_code(text: str) -> str:
    """Check the band and instrument codes of a channel."""
    if not re.fullmatch(r"([A-Z][A-Z])?", text):
        allowed = 'must be a band and an instrument code, such as "HH", without a component'
        reject([((), allowed)])
    return text


Instrument = Literal["seismometer", "hydrophone", "ocean-bottom-node"]


class Receiver(Position):
    """A station: its codes, its position and its instrument.

    A seismometer records velocity, a hydrophone pressure, an ocean-bottom node both. `location` and
    `channel`, such as "HH", are SEED codes for output files; without `channel`, the band code
    follows from the sampling rate. `elevation` is that of the ground, for output files only: a
    receiver is `depth` below the surface of the model.
    """

    kind: Instrument = "seismometer"
    """Instrument: a seismometer records velocity, a hydrophone pressure, a node both."""
    name: Annotated[str, Field(min_length=1), AfterValidator(station_code)]
    """Code of the station."""
    network: Annotated[str, AfterValidator(station_code)] = ""
    """Code of the network."""
    depth: Length = 0.0
    """Depth below the surface."""
    location: Annotated[str, AfterValidator(_location_code)] = ""
    """SEED location code for output files."""
    channel: Annotated[str, AfterValidator(_channel_code)] = ""
    """SEED band and instrument code for output files, such as "HH". By default the sampling rate
    decides."""
    elevation: Length | None = None
    """Elevation of the ground, for output files only."""

    @property
    def code(self) -> str:
        """network.name, or the name without a network."""
        return f"{self.network}.{self.name}" if self.network else self.name


class ReceiverFile(Section):
    """A file of stations: CSV, STATIONS of SPECFEM, StationXML or another inventory of ObsPy.

    CSV has a header line with network, station, longitude and latitude (or x and y), depth,
    elevation, location and channel, under usual names such as `sta`, with units as in `depth(km)`.
    Without `[grid.geography]`, the third and fourth columns of STATIONS are y and x. Of the
    instruments in an inventory, high gain comes before low gain, then the lowest location code,
    then the highest sampling rate; accelerometers only if `channels` asks for them. Their codes
    name the output, but components are always E, N and Z. The position is that of the latest epoch,
    at the depth of the sensors.
    """

    file: DataFile
    """List of stations: CSV, STATIONS of SPECFEM, StationXML or another inventory of ObsPy."""
    channels: Annotated[str, Field(min_length=1, max_length=20)] | None = None
    """Pattern of the channels of an inventory, such as "HH?" or "00.BH?"."""
    outside: Literal["error", "skip"] = "error"
    """Whether stations outside the region are an error or left out."""


def wrong_instrument(receiver: Receiver, allowed: Sequence[Instrument]) -> Iterator[Violation]:
    """Yield a violation if a solver has no such instrument."""
    if receiver.kind not in allowed:
        yield ("kind",), f"must be {listed(map(quoted, allowed))} for this solver"


# Maximum length of network and station codes in SEED (SEED manual 2.4, chapter 3), which also name
# SAC files.
_MAX_CODE_LENGTHS = {"network": 2, "name": 5}


def repeated_codes(receivers: Sequence[Receiver]) -> Iterator[Violation]:
    """Yield a violation for each receiver with the codes of an earlier one."""
    first: dict[str, int] = {}
    for n, receiver in enumerate(receivers):
        if first.setdefault(receiver.code, n) != n:
            taken = f"is taken by receiver[{first[receiver.code]}]; codes must be unique"
            yield (n, "name"), taken


class _Coded(Protocol):
    """A station with its codes."""

    @property
    def network(self) -> str: ...
    @property
    def name(self) -> str: ...


def long_codes(receiver: _Coded, formats: tuple[str, ...]) -> Iterator[Violation]:
    """Yield a violation for each code that is too long for the formats of seismograms."""
    named = [name for name in formats if name in ("sac", "mseed")]
    for key, most in _MAX_CODE_LENGTHS.items():
        if named and len(getattr(receiver, key)) > most:
            yield (key,), f"must have at most {most} characters, for the format {named[0]}"
