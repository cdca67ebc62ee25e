"""Record sections: which stations, in which order, and what is too small to draw."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from result_files import EVENT, Site, write_stations

from groundswell.errors import InputError
from groundswell.seismology.formats.seismograms import SeismogramWriter, read_seismograms
from groundswell.seismology.motion import without_noise
from groundswell.seismology.plots import record_section as section
from groundswell.seismology.plots.record_section import record_section
from groundswell.seismology.source_distances import epicentral_distances

pytestmark = pytest.mark.each_value


def test_stations_are_ordered_by_distance_and_thinned_evenly(tmp_path: Path) -> None:
    places = write_stations(tmp_path, count=60)
    array = read_seismograms(tmp_path / "seismograms.h5")
    distance = epicentral_distances(array)
    expected = np.abs(places @ [1, 1j] - complex(EVENT["event_x"], EVENT["event_y"]))
    assert distance == pytest.approx(expected)
    order = np.argsort(expected)
    shown = section.evenly(order, 24)
    assert (len(shown), shown[0], shown[-1]) == (24, order[0], order[-1])
    assert np.all(np.diff(expected[shown]) > 0)
    assert section.evenly(order[:5], 24).tolist() == order[:5].tolist()


def test_seismograms_without_samples_are_refused(tmp_path: Path) -> None:
    write_stations(tmp_path, samples=0)
    with pytest.raises(InputError, match="has no samples"):
        record_section(tmp_path)


def test_a_silent_station_is_a_flat_line(tmp_path: Path) -> None:
    sites = [Site("N", "A", (0.0, 0.0, 0.0))]
    with SeismogramWriter(tmp_path / "seismograms.h5", sites, interval=0.1) as writer:
        writer.append(np.zeros((9, 1, 3)))
    assert record_section(tmp_path).exists()


def test_rounding_errors_of_other_traces_are_drawn_as_zero(tmp_path: Path) -> None:
    """Single precision: 1e-5 of the largest trace is signal, 1e-7 is rounding."""
    sites = [Site("N", name, (0.0, 0.0, 0.0)) for name in "AB"]
    peaks = np.array([[1.0, 1e-7, 0.3], [1e-3, 1e-7, 1e-5]])
    with SeismogramWriter(tmp_path / "seismograms.h5", sites, interval=0.1) as writer:
        writer.append(peaks * np.sin(np.arange(50))[:, None, None])
    shown = without_noise(read_seismograms(tmp_path / "seismograms.h5"))
    is_drawn = np.abs(shown.values).max(axis=2) > 0
    assert is_drawn.tolist() == [[True, False, True], [True, False, True]]
    assert [section._peak(p, 0.01, 4e-6) for p in (0.5, 1e-5, 0.0)] == ["50", "0.001", "< 0.0004"]
    assert section._peak(0.0, 0.01, 0.0) == "0"
    assert record_section(tmp_path).exists()


@pytest.mark.parametrize(
    ("shown", "count", "stations"),
    [(1, 1, "1 station"), (3, 3, "3 stations"), (24, 60, "24 of 60 stations")],
)
def test_the_number_of_stations_is_given(shown: int, count: int, stations: str) -> None:
    assert section._sentence(shown, count).startswith(f"Velocity at {stations}, each")
