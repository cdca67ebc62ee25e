"""Snapshots of the surface: which moments are drawn."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from result_files import EVENT, POINTS, X, Y, names, rng

from groundswell.errors import InputError
from groundswell.plotting import style
from groundswell.seismology.formats.shaking_maps import SurfaceWriter
from groundswell.seismology.plots import snapshots

pytestmark = pytest.mark.each_value


def test_snapshots_are_taken_while_something_moves(tmp_path: Path) -> None:
    block = np.zeros((100, 3, 40, 60))
    block[30:60, 2] = rng.normal(size=(30, 40, 60))
    with SurfaceWriter(tmp_path / "surface.nc", POINTS, 0.1, attrs=EVENT) as writer:
        writer.append_velocity(block)
    chosen = snapshots._select(tmp_path / "surface.nc")
    assert chosen.sizes["time"] == 6
    assert 3.0 <= chosen["time"].min() < chosen["time"].max() <= 6.0
    n = round(float(chosen["time"][2]) / 0.1)
    assert np.array_equal(chosen["velocity"][2], -block[n, 2].astype("f4"))


@pytest.mark.parametrize(("times", "count", "rows"), [(1, 1, 1), (3, 3, 1), (5, 4, 2), (9, 6, 2)])
def test_a_picture_has_as_many_rows_as_it_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, times: int, count: int, rows: int
) -> None:
    """And the lowest panel of each column has labels below."""
    figures: list[Any] = []

    @contextmanager
    def drawn(path: Path, height: float) -> Iterator[Any]:
        figures.append(Figure((style.WIDTH, height)))
        yield figures[0]

    monkeypatch.setattr(snapshots, "picture", drawn)
    with SurfaceWriter(tmp_path / "surface.nc", POINTS, 0.1, attrs=EVENT) as writer:
        writer.append_velocity(rng.normal(size=(times, 3, 40, 60)))
    snapshots.snapshots(tmp_path)
    *panels, _ = [axes for axes in figures[0].axes if axes.get_visible()]
    assert len(panels) == count and panels[0].get_gridspec().nrows == rows
    for axes in panels[-min(3, count) :]:
        assert axes.xaxis.get_tick_params()["labelbottom"]


@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (9, 1)])
def test_a_surface_without_width_is_not_drawn(tmp_path: Path, shape: tuple[int, int]) -> None:
    points = replace(POINTS, x=X[: shape[1]], y=Y[: shape[0]])
    with SurfaceWriter(tmp_path / "surface.nc", points, 0.1) as writer:
        writer.append_velocity(rng.normal(size=(4, 3, *shape)))
    assert snapshots.snapshots(tmp_path) is None
    assert names(tmp_path) == ["surface.nc"]


def test_a_surface_without_samples_is_refused(tmp_path: Path) -> None:
    SurfaceWriter(tmp_path / "surface.nc", POINTS, 0.1).finish()
    with pytest.raises(InputError, match="has no samples"):
        snapshots.snapshots(tmp_path)
