"""Moments and magnitudes of sources for `check`, `summary.json` and the report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from groundswell.case.quantities import Quantity
from groundswell.errors import counted
from groundswell.seismology.case.events import ALL, EventFile, EventSection
from groundswell.seismology.case.sources import AwpRupture, RuptureFile
from groundswell.seismology.formats.event_choice import describe
from groundswell.seismology.sources.entries import Fault, SourceEntry
from groundswell.seismology.sources.event import reference_time
from groundswell.seismology.sources.moment import magnitude_from_moment, scalar_moment
from groundswell.seismology.sources.summary import SourceSummary

_NAMES = {
    "double-couple": "double couple",
    "moment-tensor": "moment tensor",
    "event": "event",
    "srf": "rupture",
    "fsp": "rupture",
    "awp": "AWP source",
}
_SHOWN = 8  # number of sources that are shown; JSON lists all of them
_SMALLEST_RATIO = 1.005  # summed over net moment; a smaller ratio changes Mw by less than 0.01


def event_quantities(
    event: EventSection, centroid: float, group: str, *, has_sources: bool = True
) -> Iterator[Quantity]:
    """The date of time 0, and the time of the centroid of the sources, s, if there are any."""
    date = reference_time(event, centroid)
    reason = "the origin time" if event.origin_time else "from the centroid time"
    text = f"{date}, {reason}" if date else ""
    yield Quantity("reference_time", date, "time 0" * bool(date), text=text, group=group)
    if not has_sources:
        return
    text = f"at {centroid:.6g} s"
    yield Quantity("centroid_time", centroid, "centroid of the sources", "s", text, group)


def source_quantities(
    entries: Sequence[SourceEntry], total: SourceSummary, group: str
) -> Iterator[Quantity]:
    """Yield the moments and magnitudes of each source and of the net moment tensor.

    Args:
        entries: all sources.
        total: their summary.
        group: heading of the quantities.
    """
    summaries = [SourceSummary.from_entries([entry]) for entry in entries]
    each = [*map(_values, entries, summaries)]
    text = "\n".join(_lines(entries, summaries))
    yield Quantity("sources", each, "sources", text=text, group=group)
    points = sum(len(entry.points) for entry in entries)
    yield Quantity("point_sources", points, group=group)
    label = "all sources" if len(entries) > 1 and total.summed_moment else ""
    yield Quantity("moment", total.scalar_moment, label, "N m", _moment_text(total), group)
    yield Quantity("magnitude", total.magnitude, group=group)
    yield Quantity("summed_moment", total.summed_moment, unit="N m", group=group)


def _values(entry: SourceEntry, summary: SourceSummary) -> dict[str, object]:
    """Values of a source for JSON, in SI units."""
    section, fault = entry.section, entry.fault
    if section.kind == "force":
        return {"kind": section.kind, "force": list(section.force)}
    if section.kind == "airgun":
        return {"kind": section.kind, "volume": section.volume, "strength": section.strength}
    values: dict[str, object] = {
        "kind": section.kind,
        "moment": summary.scalar_moment,
        "magnitude": summary.magnitude,
        "summed_moment": summary.summed_moment,
    }
    if file := getattr(section, "file", None):
        values["file"] = file.name
    names = ("subfaults", "slipping", "area", "largest_slip", "start", "end", "own_rigidity")
    return values | ({name: getattr(fault, name) for name in names} if fault else {})


def _lines(entries: Sequence[SourceEntry], summaries: Sequence[SourceSummary]) -> Iterator[str]:
    """Yield a description of a single source, or the number of sources and a line for each.

    At most `_SHOWN` sources have a line.
    """
    described = map(_describe, entries[:_SHOWN], summaries)
    if len(entries) == 1:
        name, *properties = next(described)
        yield from (f"1 {name}", *properties)
        return
    counts = Counter(_name(entry) for entry in entries)
    yield ", ".join(counted(n, name) for name, n in counts.items())
    yield from (f"source[{n}]: {', '.join(parts)}" for n, parts in enumerate(described))
    if len(entries) > _SHOWN:
        yield f"and {len(entries) - _SHOWN} more"


def _name(entry: SourceEntry) -> str:
    return _NAMES.get(entry.section.kind, entry.section.kind)


def _describe(entry: SourceEntry, summary: SourceSummary) -> Iterator[str]:
    """Yield the kind of a source, its moment or force, and the slip of a rupture."""
    name, section, fault = _name(entry), entry.section, entry.fault
    if section.kind == "force":
        x, y, z = section.force
        yield f"force of {np.hypot(np.hypot(x, y), z):.4g} N: ({x:g}, {y:g}, {z:g}) N"
        return
    if section.kind == "airgun":
        size = section.volume if section.strength is None else section.strength / 1e5
        yield f"airgun of {size:.4g} {'m3' if section.strength is None else 'bar m'}"
        return
    if fault and isinstance(section, RuptureFile):
        name += f" of {counted(fault.subfaults, 'subfault')} ({section.file.name})"
    elif isinstance(section, AwpRupture):
        name += f" of {counted(section.points, 'point')} ({section.file.name})"
    elif isinstance(section, EventFile):
        name += _event_name(section)
    yield name
    yield _moment_text(summary) or _transient_moment(entry)
    if isinstance(section, EventFile):
        yield from _event_text(entry)
    if fault:
        yield from _slip_text(fault)


def _event_name(section: EventFile) -> str:
    """What follows the kind of an event of a file."""
    name, chosen = section.file.name, section.chosen
    if section.select == ALL:
        return f" of {counted(len(chosen), 'point source')} ({name})"
    return f" ({name}: {describe(chosen[0][0])})"


def _event_text(entry: SourceEntry) -> Iterator[str]:
    """Yield the position and the time function of an event of a file."""
    section = entry.section
    if isinstance(section, EventFile) and section.select == ALL:
        yield f'tensors and times as in the convention "{section.meaning}"'
        return
    x, y, depth = entry.points[0].position
    yield f"at x = {x:.6g} m, y = {y:.6g} m, depth = {depth:.6g} m"
    if function := entry.function:
        shape, centroid = type(function).__name__.lower(), function.centroid_time
        yield f"{shape} of {function.support:.4g} s with its centroid at {centroid:.4g} s"


def _slip_text(fault: Fault) -> Iterator[str]:
    """Yield the extent of the slip of a rupture, and the source of its rigidity."""
    still = (
        "" if fault.slipping == fault.subfaults else f" in {counted(fault.slipping, 'subfault')}"
    )
    yield (
        f"slip of at most {fault.largest_slip:.3g} m on {fault.area / 1e6:.4g} km²{still} within "
        f"{fault.end - fault.start:.3g} s"
    )
    own = fault.own_rigidity
    if own in (0, fault.slipping):
        yield f"mu of the {'medium' if own == 0 else 'file'}"
    else:
        yield f"mu of the file in {counted(own, 'subfault')}, of the medium in the others"


def _moment_text(summary: SourceSummary) -> str:
    """M0 and Mw of the net moment tensor, and the sum of scalar moments if it differs.

    Empty if there is no moment.
    """
    if not summary.summed_moment:
        return ""
    summed = f"scalar moments add up to {_moment_and_magnitude(summary.summed_moment)}"
    if not summary.scalar_moment:
        return f"no net moment; {summed}"
    net = _moment_and_magnitude(summary.scalar_moment)
    if summary.summed_moment < _SMALLEST_RATIO * summary.scalar_moment:
        return net
    return f"{net} (net moment tensor; {summed})"


def _moment_and_magnitude(moment: float) -> str:
    return f"M0 {moment:.3g} N m, Mw {magnitude_from_moment(moment):.2f}"


def _transient_moment(entry: SourceEntry) -> str:
    """The largest moment of a source without a final moment."""
    peaks = [
        float(scalar_moment(point.moment)) * point.step * np.abs(np.cumsum(point.samples)).max()
        for point in entry.points
        if point.moment is not None
    ]
    return f"no final moment; M0 up to {sum(peaks):.3g} N m"
