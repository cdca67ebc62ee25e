"""Mutants of observed records and of their StationXML: each is read, or refused in one message."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from damage import count_refused
from observed_motion import DATE, observed_stream
from variants import long_variants

from groundswell.seismology.case.comparison import ComparisonOptions
from groundswell.seismology.comparison.directions import read_directions
from groundswell.seismology.comparison.records import read_records

obspy = pytest.importorskip("obspy")
core = pytest.importorskip("obspy.core.inventory")


def stream() -> Any:
    """Short records of one station along 1, 2 and up."""
    found = observed_stream(before=0.0).select(station="NEAR")
    for trace, code in zip(found, "12Z", strict=True):
        trace.data, trace.stats.channel = trace.data[:200], f"HH{code}"
    return found


def inventory() -> Any:
    place = {"latitude": 34.0, "longitude": -118.0, "elevation": 0.0}
    channels = [
        core.Channel(f"HH{code}", "", azimuth=azimuth, dip=dip, depth=0.0, **place)
        for code, azimuth, dip in (("1", 37.0, 0.0), ("2", 127.0, 0.0), ("Z", 0.0, -90.0))
    ]
    station = core.Station("NEAR", channels=channels, **place)
    return core.Inventory([core.Network("GS", stations=[station])], source="test")


@pytest.mark.parametrize("count", [40, *long_variants([200])])
@pytest.mark.parametrize("kind", ["MSEED", "SAC", "STATIONXML"])
def test_mutants(kind: str, count: int, tmp_path: Path) -> None:
    path, options, known = tmp_path / "file", ComparisonOptions(), inventory()
    (known if kind == "STATIONXML" else stream()[:1] if kind == "SAC" else stream()).write(
        str(path), format=kind
    )

    def read(mutant: Path) -> None:
        if kind == "STATIONXML":
            found = read_records(stream(), DATE, options, read_directions(mutant))
        else:
            found = read_records(mutant, DATE, options, known)
        assert all(np.isfinite([each.start, each.interval]).all() for each in found)
        assert all(each.values.dtype == float and each.values.size < 1e7 for each in found)

    assert (
        count_refused(read, tmp_path / "mutant.file", path.read_bytes(), range(count)) > count / 20
    )
