"""Films of the surface: a frame for each sample, on one scale."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from result_files import EVENT, POINTS, X, Y, names, rng

from groundswell.seismology.formats.shaking_maps import SurfaceWriter
from groundswell.seismology.plots import surface_film as films


@pytest.fixture(autouse=True)
def no_ffmpeg(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without ffmpeg, films are GIFs on any machine."""
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))


def write(folder: Path, block: np.ndarray, **changes: np.ndarray) -> None:
    with SurfaceWriter(folder / "surface.nc", replace(POINTS, **changes), 0.1, attrs=EVENT) as file:
        file.append_velocity(block)


def test_each_frame_shows_the_upward_velocity(tmp_path: Path) -> None:
    """Everything moves up, rests, and moves down: red, white and blue."""
    block = rng.normal(0, 1, (3, 3, len(Y), len(X)))
    block[:, 2] = 0.1 * np.array([-1.0, 0.0, 1.0])[:, None, None]  # z is down
    write(tmp_path, block)
    assert films.surface_film(tmp_path) == tmp_path / "surface_velocity.gif"
    with Image.open(tmp_path / "surface_velocity.gif") as film:
        assert film.n_frames == 3
        for number, reddish in enumerate((100, 0, -80)):
            film.seek(number)
            pixels = np.asarray(film.convert("RGB"), float)[120:-80, 100:500]
            red, _, blue = np.median(pixels, axis=(0, 1))
            assert np.sign(reddish) * (red - blue) >= abs(reddish) / 2 - 5
            assert abs(red - blue) < 10 or reddish


def test_long_series_are_thinned(tmp_path: Path) -> None:
    block = rng.normal(0, 1, (250, 3, 4, 3))
    write(tmp_path, block, x=X[:3], y=Y[:4])
    shown = films._upward(tmp_path / "surface.nc")
    assert shown["velocity"].values == pytest.approx(-block[::3, 2], rel=1e-6)  # float32
    assert shown["time"].values == pytest.approx(0.1 * np.arange(250)[::3])


@pytest.mark.parametrize("shape", [(0, 4, 3), (2, 4, 3), (2, 1, 3), (2, 4, 1)])
def test_nothing_to_show_is_no_film(tmp_path: Path, shape: tuple[int, int, int]) -> None:
    samples, rows, columns = shape
    moving = min(rows, columns) == 1
    write(tmp_path, np.full((samples, 3, rows, columns), float(moving)), x=X[:columns], y=Y[:rows])
    assert films.surface_film(tmp_path) is None
    assert names(tmp_path) == ["surface.nc"]
