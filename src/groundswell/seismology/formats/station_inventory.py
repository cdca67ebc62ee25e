"""Stations of StationXML and of other inventories that ObsPy reads.

A receiver has the codes of the channels that it is compared with: the location code, and the band
and instrument codes that the components of an instrument share.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

from groundswell.errors import CaseProblem, InputError
from groundswell.formats.text import read_text
from groundswell.seismology.formats.obspy_files import read_with_obspy
from groundswell.seismology.formats.station_rows import StationRow

_VELOCITY = "HL"  # instrument codes of seismometers: SEED Reference Manual v2.4, appendix A
_COMPONENTS = "ZNE123"


class _Instrument(NamedTuple):
    """Channels of a station that share location, band and instrument codes.

    Args:
        location, channel: the codes, such as "00" and "HH".
        rate: the highest sampling rate, Hz.
        channels: ObsPy's channels.
    """

    location: str
    channel: str
    rate: float
    channels: tuple[Any, ...]


def is_inventory(path: Path) -> bool:
    """Whether a file is StationXML, or the text format of FDSN."""
    if path.suffix.lower() == ".xml":
        return True
    first = read_text(path, "a list of stations").lstrip()[:2000].partition("\n")[0]
    return first.startswith("<") or (first.startswith("#") and "|" in first)


def read_inventory(path: Path, channels: str | None) -> tuple[list[StationRow], list[CaseProblem]]:
    """The stations of an inventory, and those with sensors at several depths.

    If a station moved, its last position counts.

    Args:
        channels: pattern of the channels that count, such as "HH?" or "00.HH?"; None for all.

    Raises:
        InputError: ObsPy is not installed, or the file cannot be read, or no channel matches.
    """
    rows: list[StationRow] = []
    problems: list[CaseProblem] = []
    kind = "StationXML or text of FDSN"
    inventory, _ = read_with_obspy(path, "read_inventory", kind, "write it again")
    for codes, station in _latest(inventory).items():
        where = ".".join(codes)
        found = [*_instruments(station, channels)]
        if channels is not None and not found:
            continue
        chosen = _chosen(found) if found else _Instrument("", "", 0.0, ())
        depths = sorted({float(channel.depth or 0.0) for channel in chosen.channels})
        if len(depths) > 1:
            allowed = "list the sensors in a CSV file, or choose one with channels in [receivers]"
            problems.append(CaseProblem(where, f"sensors at depths {depths} m", allowed))
        rows.append(StationRow(where, _content(codes, station, chosen, depths)))
    if channels is not None and not rows:
        raise InputError(f'{path}: no station has channels "{channels}"; change receivers.channels')
    return rows, problems


def _latest(inventory: Any) -> dict[tuple[str, str], Any]:
    """The last epoch of each station."""
    return {
        (str(network.code), str(station.code)): station
        for network in inventory
        for station in sorted(network, key=lambda epoch: str(epoch.start_date or ""))
    }


def _instruments(station: Any, pattern: str | None) -> Iterator[_Instrument]:
    """Yield the instruments whose channels match; without a pattern, those of velocity."""
    groups: dict[tuple[str, str], list[Any]] = defaultdict(list)
    for channel in station:
        location, code = str(channel.location_code or "").strip(" -"), str(channel.code)
        if len(code) == 3 and code[2] in _COMPONENTS and _matches(location, code, pattern):
            groups[location, code[:2]].append(channel)
    for (location, code), found in groups.items():
        rate = max(float(channel.sample_rate or 0.0) for channel in found)
        yield _Instrument(location, code, rate, tuple(_last_epochs(found)))


def _matches(location: str, code: str, pattern: str | None) -> bool:
    if pattern is None:
        return code[1] in _VELOCITY
    return fnmatchcase(f"{location}.{code}" if "." in pattern else code, pattern)


def _last_epochs(channels: Sequence[Any]) -> Iterator[Any]:
    """Yield the last epoch of each channel."""
    latest = {str(c.code): c for c in sorted(channels, key=lambda c: str(c.start_date or ""))}
    yield from latest.values()


def _chosen(found: Sequence[_Instrument]) -> _Instrument:
    """High gain before low gain, then the lowest location code, then the highest sampling rate."""
    return min(found, key=lambda each: (each.channel[1] != "H", each.location, -each.rate))


def _content(
    codes: tuple[str, str], station: Any, chosen: _Instrument, depths: Sequence[float]
) -> dict[str, Any]:
    """The keys of a receiver; coordinates of the channels, if there are any, are more exact."""
    at = chosen.channels[0] if chosen.channels else station
    content = {
        "network": codes[0],
        "name": codes[1],
        "location": chosen.location,
        "channel": chosen.channel,
        "longitude": float(at.longitude),
        "latitude": float(at.latitude),
        "depth": depths[0] if depths else 0.0,
    }
    surface = station.elevation
    return content | ({} if surface is None else {"elevation": float(surface)})
