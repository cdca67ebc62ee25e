"""Maps of faults: triangles between unstructured points, and contours of the rupture time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from fault_files import scattered, write_ruptures
from matplotlib.image import imread

from groundswell.seismology.formats.fault_maps import read_fault_map
from groundswell.seismology.plots import fault_maps
from groundswell.seismology.plots.fault_panel import panels_of

rng = np.random.default_rng(11)


def test_elements_share_places_and_gaps_are_not_drawn(tmp_path: Path) -> None:
    points = scattered(rng, 900, 9000.0, 3000.0)
    points = points.take(np.abs(points.along_strike) > 1500)  # two parts, 3 km apart
    values = rng.normal(size=len(points))
    fault = read_fault_map(write_ruptures(tmp_path, {"main": points}, peak_rate=values))
    (panel,) = panels_of(fault)
    at, place = np.unique(points.position, axis=0, return_inverse=True)
    assert len(panel.along) == len(at)
    expected = [values[place.ravel() == n].mean() for n in range(len(at))]
    assert np.sort(panel.mean(values)) == pytest.approx(np.sort(expected))
    corners = panel.along[panel.triangles.get_masked_triangles()]
    assert np.ptp(corners, axis=1).max() < 2
    assert len(corners) > len(at)  # nearly two per place


def test_pictures_of_several_faults(tmp_path: Path) -> None:
    """One has not broken at all, the other in a part only."""
    faults = {"main": scattered(rng, 900, 9000.0, 3000.0), "side": scattered(rng, 80, 2e3, 2e3)}
    away = np.hypot(faults["main"].along_strike, faults["main"].down_dip - 1500)
    count = len(faults["side"])
    times = np.append(np.where(away < 3000, away / 1e3, np.inf), np.full(count, np.inf))
    slip = np.append(np.maximum(0, 3 - away / 1e3), np.zeros(count))
    write_ruptures(tmp_path, faults, slip_strike=slip, rupture_time=times, peak_rate=slip)
    for path in (fault_maps.slip_map(tmp_path), fault_maps.rate_map(tmp_path)):
        assert imread(path)[..., :3].std() > 0.05


def test_a_fault_that_has_not_broken_is_drawn(tmp_path: Path) -> None:
    points = scattered(rng, 80, 2e3, 2e3)
    write_ruptures(tmp_path, {"main": points}, rupture_time=np.full(len(points), np.inf))
    assert fault_maps.slip_map(tmp_path).stat().st_size > 5_000


@pytest.mark.parametrize(
    ("last", "step"), [(6.0, 0.5), (0.3, 0.02), (150.0, 10.0), (0.0, None), (np.nan, None)]
)
def test_contours_are_half_a_second_apart_unless_few_or_many(
    last: float, step: float | None
) -> None:
    times = np.array([np.nan, 0.0, last]) if last == last else np.full(3, np.nan)
    assert fault_maps.contour_step(times) == (None if step is None else pytest.approx(step))
