"""Tables in the formats of OpenQuake: hazard curves and maps, sites, and ground-motion fields.

The formats are those that the OpenQuake engine exports, or reads as `sites_csv` and `gmfs_csv`.
Accelerations are in g, velocities in cm/s.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from groundswell.arrays import Floats
from groundswell.seismology.hazard.analysis import Hazard
from groundswell.seismology.hazard.curves import probability
from groundswell.seismology.hazard.exceedance import Exceedance, Samples
from groundswell.seismology.hazard.files import map_of, write_rows
from groundswell.seismology.hazard.measures import Measure
from groundswell.seismology.hazard.sites import Sites
from groundswell.version import __version__

Rows = Iterator[list[object]]


def write_openquake(folder: Path, hazard: Hazard) -> list[Path]:
    """Write the tables of an analysis; returns the paths.

    The sites have longitudes and latitudes. Ground-motion fields are written for each branch of
    simulated variations, with a table of the annual rates of the events.

    Raises:
        RunFailed: the disk is full.
    """
    found = [write_rows(folder / "sites.csv", _site_rows(hazard.sites))]
    found.append(write_rows(folder / "hazard_map-mean.csv", _map_rows(hazard)))
    for measure in hazard.case.measures:
        for kind, rates in _kinds(hazard, measure):
            path = folder / f"hazard_curve-{kind}-{measure.openquake}.csv"
            found.append(write_rows(path, _curve_rows(hazard, measure, kind, rates)))
    for n, branch in enumerate(hazard.branches):
        if fields := _samples(branch.motion):
            name, rates = str(n), branch.ruptures.rates
            found.append(write_rows(folder / f"gmf-data_{name}.csv", _field_rows(fields)))
            events = _event_rows(fields, branch.ruptures.names, rates)
            found.append(write_rows(folder / f"events_{name}.csv", events))
    return found


def _kinds(hazard: Hazard, measure: Measure) -> Iterator[tuple[str, Floats]]:
    """Yield the name and the rates (sites, levels) of the mean and of each fractile."""
    one = hazard.curves.sel(measure=str(measure))
    yield "mean", np.asarray(one["rate"].values)
    for share, rates in zip(hazard.case.fractiles, one["rate_fractile"].values, strict=True):
        yield f"quantile-{share:g}", rates


def _comment(columns: int, **values: object) -> list[object]:
    """The first line of a table, with metadata in its last cell."""
    known = {"generated_by": f"Groundswell {__version__}", **values}
    text = ", ".join(f"{key}={value!r}" for key, value in known.items())
    return ["#", *[""] * (columns - 2), text]


def _curve_rows(hazard: Hazard, measure: Measure, kind: str, rates: Floats) -> Rows:
    years, name = float(hazard.case.exposure), measure.openquake
    levels = hazard.curves["level"].sel(measure=str(measure)).values / measure.unit[0]
    yield _comment(3 + len(levels), kind=kind, investigation_time=years, imt=name)
    yield ["lon", "lat", "depth", *(f"poe-{level:.7f}" for level in levels)]
    for (u, v), curve in zip(hazard.sites.horizontal, probability(rates, years), strict=True):
        yield [f"{u:.5f}", f"{v:.5f}", "0.00000", *(f"{p:.6E}" for p in curve)]


def _map_rows(hazard: Hazard) -> Rows:
    """Levels by probabilities within the exposure, as in "PGA-0.1"."""
    case = hazard.case
    keys = [(measure, years) for measure in case.measures for years in case.return_periods]
    shares = [float(probability(1 / years, case.exposure)) for _, years in keys]
    names = [f"{key[0].openquake}-{share:.6g}" for key, share in zip(keys, shares, strict=True)]
    yield _comment(2 + len(keys), kind="mean", investigation_time=float(case.exposure))
    yield ["lon", "lat", *names]
    columns = [map_of(hazard, measure, years) / measure.unit[0] for measure, years in keys]
    for (u, v), row in zip(hazard.sites.horizontal, np.column_stack(columns), strict=True):
        yield [f"{u:.5f}", f"{v:.5f}", *(f"{value:.5E}" for value in row)]


def _site_rows(sites: Sites) -> Rows:
    yield ["site_id", "lon", "lat", "vs30"]
    for n, ((u, v), vs30) in enumerate(zip(sites.horizontal, sites.vs30, strict=True)):
        yield [n, f"{u:.5f}", f"{v:.5f}", f"{vs30:g}"]


def _samples(motion: Mapping[Measure, Exceedance]) -> dict[Measure, Samples]:
    return {m: samples for m, samples in motion.items() if isinstance(samples, Samples)}


def _events(fields: Mapping[Measure, Samples]) -> Iterator[tuple[int, int]]:
    """Yield rupture and variation of each event: all that have values."""
    first = next(iter(fields.values())).values
    for rupture, variation in zip(*np.nonzero(np.isfinite(first).any(axis=2)), strict=True):
        yield int(rupture), int(variation)


def _field_rows(fields: Mapping[Measure, Samples]) -> Rows:
    yield ["site_id", "event_id", *(f"gmv_{measure.openquake}" for measure in fields)]
    for event, (rupture, variation) in enumerate(_events(fields)):
        columns = [
            each.values[rupture, variation] / measure.unit[0] for measure, each in fields.items()
        ]
        for site, row in enumerate(np.column_stack(columns)):
            yield [site, event, *(f"{value:.5E}" for value in row)]


def _event_rows(fields: Mapping[Measure, Samples], names: Sequence[str], rates: Floats) -> Rows:
    """The rupture of each event, and the annual rate of the event."""
    events = list(_events(fields))
    counts = np.bincount([rupture for rupture, _ in events], minlength=len(names))
    yield ["event_id", "rupture", "annual_rate"]
    for event, (rupture, _) in enumerate(events):
        yield [event, names[rupture], f"{rates[rupture] / counts[rupture]:.6E}"]
