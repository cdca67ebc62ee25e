"""The stations of a run that are observed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from groundswell.arrays import Floats
from groundswell.errors import InputError
from groundswell.seismology.comparison.directions import NUMBERED, useless
from groundswell.seismology.comparison.pairs import HORIZONTAL, Station
from groundswell.seismology.comparison.records import Record
from groundswell.seismology.source_distances import azimuths

if TYPE_CHECKING:
    import xarray


VERTICAL = "Z"


def stations(
    motion: xarray.DataArray, distances: Floats, records: Sequence[Record], frame: str
) -> Iterator[Station | str]:
    """Yield the stations of a run that are observed, and warnings.

    Raises:
        InputError: records of a component are not unique.
    """
    towards = azimuths(motion) if frame == "ZRT" else [None] * motion.sizes["station"]
    for site, distance, azimuth in zip(motion, distances, towards, strict=True):
        own, name = _of_site(site, records), str(site["station"].item())
        usable = [each for each in own if each.component not in NUMBERED or each.direction]
        if unknown := sorted({each.channel for each in own} - {each.channel for each in usable}):
            yield (
                f"{name}: channels {', '.join(unknown)} have no known direction and are left out; "
                "give their StationXML with the option inventory, or rotate them to N and E first"
            )
        found = _by_component(name, usable, frame, set(site["component"].values.astype(str)))
        if lost := useless({code: each.direction for code, each in found.items()}):
            channels = ", ".join(found.pop(code).channel for code in lost)
            yield (
                f"{name}: channels {channels} are left out, because their directions do not "
                "give the motion towards E, N or Z; give the other components, too"
            )
        if found:
            yield Station(site, float(distance), azimuth, found)


def unmatched(motion: xarray.DataArray, records: Sequence[Record]) -> Iterator[str]:
    """Yield warnings of stations of the run without records, and of records of other stations."""
    own = {str(site["station"].item()): _of_site(site, records) for site in motion}
    if missing := [name for name, found in own.items() if not found]:
        yield f"not observed: {few(missing)}"
    used = {id(each) for found in own.values() for each in found}
    if others := sorted({each.site for each in records if id(each) not in used}):
        yield f"observed, but not in the run: {few(others)}"


def few(names: Sequence[str]) -> str:
    """The first names of a list, for messages."""
    shown = ", ".join(names[:6])
    return shown if len(names) <= 6 else f"{shown} and {len(names) - 6} more"


def _of_site(site: xarray.DataArray, records: Sequence[Record]) -> list[Record]:
    """The records of a station; networks must agree if both have one."""
    network, code = str(site["network"].item()), str(site["code"].item())
    own = [each for each in records if each.station == code]
    own = [each for each in own if each.network == network or not (each.network and network)]
    networks = sorted({each.network for each in own})
    if len(networks) > 1:
        raise InputError(
            f"station {code} is observed in the networks {', '.join(networks)}; name its network "
            "in the case, or give records of one"
        )
    return own


def _by_component(
    name: str, records: Sequence[Record], frame: str, components: set[str]
) -> dict[str, Record]:
    """The records of the components that are needed: those of the run, R and T."""
    wanted = components | {"R", "T"} if frame == "ZRT" else components
    wanted |= NUMBERED if VERTICAL in components else frozenset()
    found: dict[str, Record] = {}
    for each in records:
        if each.component in wanted and found.setdefault(each.component, each) is not each:
            raise InputError(_ambiguous(name, each.component, records))
    if (numbered := found.keys() & NUMBERED) and found.keys() & {*HORIZONTAL, "R", "T"}:
        raise InputError(_ambiguous(name, min(numbered), records, "besides N, E, R or T"))
    has_both = found.keys() >= {*HORIZONTAL} and not found.keys() & {"R", "T"}
    unused = {*HORIZONTAL} if frame == "ZRT" and not has_both else set()
    return {component: each for component, each in found.items() if component not in unused}


def _ambiguous(
    name: str, component: str, records: Sequence[Record], besides: str | None = None
) -> str:
    channels = sorted({each.channel for each in records if each.component == component})
    kind = f"a record of component {component} {besides}" if besides else None
    kind = kind or f"several records of component {component}"
    return (
        f"{name} has {kind} ({', '.join(channels)}); choose "
        f'with the option channel, as in "{channels[0][:-1]}?"'
    )
