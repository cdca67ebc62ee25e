"""Compares the seismograms of a run with observed records, or with those of another run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from groundswell.errors import CaseError, InputError
from groundswell.seismology.case.comparison import ComparisonOptions
from groundswell.seismology.comparison import pictures
from groundswell.seismology.comparison.directions import read_directions
from groundswell.seismology.comparison.measures import Row, measure
from groundswell.seismology.comparison.pairs import Pair, Station
from groundswell.seismology.comparison.records import (
    Record,
    origin_of,
    parts_of,
    read_motion,
    read_records,
)
from groundswell.seismology.comparison.resolution import unresolved
from groundswell.seismology.comparison.stations import few, stations, unmatched
from groundswell.seismology.comparison.tables import medians, text_table, write_tables
from groundswell.seismology.formats.seismograms import QUANTITIES
from groundswell.seismology.source_distances import epicentral_distances

_PLAUSIBLE = 1e3  # largest ratio of amplitudes that is no mistake


@dataclass(frozen=True)
class Comparison:
    """The differences between simulated and observed motion.

    Args:
        name: of the run: its title or the name of the folder.
        options: how the motion was compared.
        pairs: the compared traces of each station.
        rows: the measures of each station, component and window.
        warnings: what was left out and why.
    """

    name: str
    options: ComparisonOptions
    pairs: tuple[Pair, ...]
    rows: tuple[Row, ...]
    warnings: tuple[str, ...] = ()

    def __str__(self) -> str:
        """A table of all measures."""
        return text_table(self.rows)

    @property
    def medians(self) -> dict[str, float]:
        """The medians of shift (s), correlation, misfit and ratio over all rows."""
        return medians(self.rows)

    @property
    def caption(self) -> str:
        """The quantity and its filter."""
        band = self.options.band
        text = f"{band[0]:g} to {band[1]:g} Hz" if band else "unfiltered"
        return f"{self.options.quantity.capitalize()}, {text}"

    def write(self, folder: str | Path) -> list[Path]:
        """Write `comparison.csv` and `comparison.json` to a folder; returns the paths.

        Raises:
            RunFailed: the disk is full.
        """
        return write_tables(self.rows, self.as_dict(), Path(folder))

    def as_dict(self) -> dict[str, Any]:
        """The content of `comparison.json`."""
        return {
            "run": self.name,
            "options": self.options.model_dump(),
            "units": QUANTITIES[self.options.quantity].sac_units,
            "medians": {k: v if np.isfinite(v) else None for k, v in self.medians.items()},
            "warnings": [*self.warnings],
            "rows": [row.as_dict() for row in self.rows],
        }

    def plot(self, folder: str | Path = ".") -> list[Path]:
        """Draw a picture of each station and `overview.png` to a folder; returns the paths.

        Raises:
            RunFailed: the disk is full.
        """
        folder, unit = Path(folder), QUANTITIES[self.options.quantity].sac_units
        drawn = [pictures.overview(self.pairs, self.rows, self.name, self.caption, folder)]
        for pair in self.pairs:
            own = [row for row in self.rows if row.station == pair.station]
            caption = f"{self.name}. {self.caption}"
            drawn.append(pictures.station_picture(pair, own, unit, caption, folder))
        return drawn


def compare(
    results: str | Path, observed: Any, inventory: Any = None, **options: Any
) -> Comparison:
    """Compare the seismograms of a run with observed records.

    Both are resampled to common times, at the shorter of both intervals, and then filtered alike.

    Args:
        results: the results folder, or its `seismograms.h5`.
        observed: an ObsPy stream in SI units, paths of miniSEED or SAC files, or another results
            folder or `Result`. Stations have the same codes.
        inventory: StationXML, or an ObsPy inventory, with the directions of the observed channels,
            by which components such as 1 and 2 are rotated to N and E.
        options: see `ComparisonOptions`; for example `band=(0.05, 0.5)`, Hz.

    Raises:
        InputError: an option is invalid, the records cannot be read, or none can be compared.
    """
    chosen = options_of(options)
    motion = read_motion(Path(results), chosen.quantity)
    zero, channels = origin_of(chosen, motion.attrs), read_directions(inventory)
    records = read_records(observed, zero, chosen, channels)
    distances = epicentral_distances(motion)
    found = [*stations(motion, distances, records, chosen.components)]
    pairs, warnings = _paired(found, chosen)
    if not pairs:
        raise InputError(_nothing([*motion["station"].values.astype(str)], records, warnings))
    rows = [row for pair in pairs for row in _rows(pair, chosen)]
    warnings += [*unmatched(motion, records), *_cut(pairs, chosen)]
    warnings += unresolved(chosen, [Path(results), *parts_of(observed)])
    if not rows:
        raise InputError("; ".join(warnings))
    warnings += _implausible(medians(rows)["ratio"], QUANTITIES[chosen.quantity].sac_units)
    name = str(motion.attrs.get("title") or Path(results).resolve().name)
    return Comparison(name, chosen, tuple(pairs), tuple(rows), tuple(warnings))


def _paired(
    found: Sequence[Station | str], options: ComparisonOptions
) -> tuple[list[Pair], list[str]]:
    """The traces of stations, and warnings, also of stations that are left out."""
    warnings = [each for each in found if isinstance(each, str)]
    pairs: list[Pair] = []
    for station in (each for each in found if isinstance(each, Station)):
        try:
            pairs.append(station.pair(options))
        except InputError as error:
            warnings.append(f"left out: {error}")
    return pairs, warnings


def options_of(given: dict[str, Any]) -> ComparisonOptions:
    """The options of a comparison.

    Raises:
        CaseError: one is unknown or invalid; lists all of them.
    """
    try:
        return ComparisonOptions(**given)
    except CaseError as error:
        raise CaseError(error.problems, "an option") from None


def _nothing(names: Sequence[str], records: Sequence[Record], warnings: Sequence[str]) -> str:
    """Why nothing can be compared."""
    if warnings:
        more = f" (and {len(warnings) - 1} more such reasons)" if len(warnings) > 1 else ""
        return f"nothing can be compared; {warnings[0]}{more}"
    observed = sorted({each.site for each in records})
    components = sorted({r.component for r in records})
    return (
        f"no station has both simulated and observed components: the run has {few(names)}, and "
        f"the records {few(observed)} with the components {', '.join(components)}"
    )


def _rows(pair: Pair, options: ComparisonOptions) -> Iterator[Row]:
    whole = (float(pair.time[0]), float(pair.time[-1]))
    for component, observed in pair.observed.items():
        for window in options.windows or (whole,):
            if (own := _samples(pair, window)) is not None:
                both = pair.simulated[component][own], observed[own]
                values = measure(*both, pair.interval, options.max_shift)
                yield Row(pair.station, component, *window, *values)


def _samples(pair: Pair, window: tuple[float, float]) -> slice | None:
    """The samples in a window; None if the traces do not span it."""
    tolerance = 1e-6 * pair.interval
    if window[0] < pair.time[0] - pair.interval or window[1] > pair.time[-1] + pair.interval:
        return None
    ends = np.searchsorted(pair.time, (window[0] - tolerance, window[1] + tolerance))
    return slice(*ends.tolist()) if ends[1] - ends[0] > 2 else None


def _implausible(ratio: float, units: str) -> Iterator[str]:
    """A warning of observed records that are probably in other units."""
    if ratio > 0 and not 1 / _PLAUSIBLE < ratio < _PLAUSIBLE:
        yield (
            f"the simulated motion is {ratio:.1e} times the observed; observed records must be in "
            f"{units}, without the response of the instrument"
        )


def _cut(pairs: Sequence[Pair], options: ComparisonOptions) -> Iterator[str]:
    """Warnings of windows beyond the common times."""
    for start, end in options.windows:
        names = [pair.station for pair in pairs if _samples(pair, (start, end)) is None]
        if names:
            yield (
                f"window from {start:g} to {end:g} s: left out at {few(names)}, which do not have "
                f"it in common times, or fewer than 3 samples; {names[0]} has "
                f"{_span(pairs, names[0])}"
            )


def _span(pairs: Sequence[Pair], name: str) -> str:
    time = next(pair.time for pair in pairs if pair.station == name)
    return f"{time[0]:.6g} to {time[-1]:.6g} s"
