"""Films of ruptures: slip rates of the frames, faces at the pixels, and the front."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from groundswell.errors import InputError
from groundswell.seismology.faults.points import FaultPoints
from groundswell.seismology.faults.subfaults import FaceQuadrature, Subfaults
from groundswell.seismology.formats.fault_maps import FIELDS, NAME, read_fault_map, write_fault_map
from groundswell.seismology.formats.fault_series import HISTORY, HISTORY_FILE, open_history
from groundswell.seismology.plots import slip_rate_film as films
from groundswell.seismology.plots.fault_panel import panels_of

rng = np.random.default_rng(23)
EDGE, ACROSS, DOWN, NODES = 500.0, 8, 4, 3  # m; faces, each with 3 x 3 points
MEAN = FaceQuadrature(*(np.full(shape, 1.0 / shape[-1]) for shape in ((1, 9), (1,), (9,))))
FACES, SPEED = ACROSS * DOWN, 2000.0  # m/s, of the front
STEP = 0.1  # s


@pytest.fixture(autouse=True)
def no_ffmpeg(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without ffmpeg, films are GIFs on any machine."""
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))


def faces(left: float) -> FaultPoints:
    """An upright fault of square faces, whose points lie on the edges and in the middle."""
    row, column, down, along = np.indices((DOWN, ACROSS, NODES, NODES)).reshape(4, -1)
    along, down = (EDGE * (cell + node / 2) for cell, node in ((column, along), (row, down)))
    normal, strike, updip = (np.tile(axis, (len(along), 1)) for axis in -np.eye(3)[[1, 0, 2]])
    position = np.column_stack([left + along, np.zeros(len(along)), down])
    area = np.full(len(along), (EDGE / NODES) ** 2)
    return FaultPoints(position, normal, -strike, updip, along, down, area)


def write(folder: Path, slip: np.ndarray, **faults: FaultPoints) -> None:
    """Files of a rupture from the upper left corner of each fault, with slip (samples, 2, n)."""
    points = FaultPoints.concatenate([*faults.values()])
    ones = np.ones(len(points))
    values = {name: np.zeros(len(points)) for name in FIELDS}
    values["rupture_time"] = np.hypot(points.along_strike, points.down_dip) / SPEED
    write_fault_map(folder / NAME, faults, values, {"title": "A rupture"})
    subfaults = Subfaults.of(points, ones, ones, MEAN)
    with open_history(folder / HISTORY_FILE, subfaults, {}, None) as writer:
        rest = {name: np.zeros_like(slip[:, 0]) for name in HISTORY[2:]}
        times = STEP * np.arange(len(slip))
        writer.append(times, dict(zip(HISTORY, slip.swapaxes(0, 1), strict=False)) | rest)


def slips(samples: int, faults: int = 1, moving: int | None = None) -> np.ndarray:
    """Random slip that grows in the first `moving` intervals."""
    steps = rng.uniform(0, 1, (samples, 2, faults * FACES))
    steps[0] = 0
    steps[(moving or samples) + 1 :] = 0
    return np.cumsum(steps, axis=0)


def test_slip_rates_are_means_until_the_faults_rest(tmp_path: Path) -> None:
    """Of 500 samples, those of the first 40 intervals are shown, each of them."""
    slip = slips(500, moving=40)
    write(tmp_path, slip, main=faces(0))
    rates = films._read_rates(tmp_path / HISTORY_FILE)
    every = -(-500 // 120)  # intervals in a frame of the first look, in which the fault rests
    assert 40 <= len(rates.times) <= 40 + every
    assert rates.times[:40] == pytest.approx(STEP * (np.arange(40) + 0.5))
    expected = np.hypot(*np.diff(slip, axis=0).swapaxes(0, 1)) / STEP
    assert rates.values == pytest.approx(expected[: len(rates.times)], abs=1e-9)


def test_a_long_rupture_is_thinned_without_loss_of_slip(tmp_path: Path) -> None:
    slip = slips(500)
    slip[:, 1] = 0  # all of it along strike, so that rates add up to the slip
    write(tmp_path, slip, main=faces(0))
    rates = films._read_rates(tmp_path / HISTORY_FILE)
    assert 60 <= len(rates.times) <= 120
    step = rates.times[1] - rates.times[0]
    last = round((rates.times[-1] + step / 2) / STEP)
    assert rates.values.sum(axis=0) * step == pytest.approx(slip[last, 0])
    assert last >= 490


def test_each_pixel_shows_the_face_around_it(tmp_path: Path) -> None:
    """With two faults, the second of which begins elsewhere."""
    write(tmp_path, slips(3, 2), first=faces(0), second=faces(1e5))
    rates = films._read_rates(tmp_path / HISTORY_FILE)
    for number, panel in enumerate(panels_of(read_fault_map(tmp_path / NAME))):
        found = films._subfaults(panel, rates, NODES**2, scale=40)
        assert found.shape == (80, 160) and not np.ma.is_masked(found)
        row, column = (np.arange(n) // 20 for n in found.shape)
        assert np.array_equal(found, number * FACES + ACROSS * row[:, None] + column)


def test_the_film_has_a_frame_per_interval(tmp_path: Path) -> None:
    write(tmp_path, slips(6, 2), first=faces(0), second=faces(1e5))
    path = films.slip_rate_film(tmp_path)
    assert path == tmp_path / "fault_slip_rate.gif"
    with Image.open(path) as film:
        assert film.n_frames == 5
        frames = []
        for number in range(film.n_frames):
            film.seek(number)
            frames.append(np.asarray(film.convert("RGB"), float))
    changes = np.abs(np.diff(frames, axis=0)).max(axis=-1) > 30
    height = changes.shape[1]
    headline = int(0.72 * 75)  # inches, and pixels in an inch
    assert changes[:, :headline].any(axis=(1, 2)).all()  # the time
    assert (changes[:, headline:].sum(axis=(1, 2)) > 0.1 * 800 * height).all()  # the slip rate
    assert not changes[:, :, -40:].any()  # colours mean the same in all frames


def test_the_front_is_a_line_of_equal_rupture_time(tmp_path: Path) -> None:
    from matplotlib.figure import Figure

    write(tmp_path, slips(3), main=faces(0))
    fault = read_fault_map(tmp_path / NAME)
    (panel,), figure = panels_of(fault), Figure()
    times = fault["rupture_time"].values.copy()
    times[fault["along_strike"].values > 3500] = np.nan
    rates = films._read_rates(tmp_path / HISTORY_FILE)
    subfaults = films._subfaults(panel, rates, NODES**2, scale=10)
    shown = films._PanelFilm(figure.subplots(), panel, subfaults, times, 1.0)
    for time in (0.5, 0.9):
        shown.show(time, np.zeros(FACES))
        (line,) = shown._front.get_paths()
        # Distances are interpolated between points that are 0.25 km apart: the error of a chord of
        # a circle of 1 km or more, 0.25² / 8 km, twice for triangles.
        assert np.hypot(*line.vertices.T) == pytest.approx(time * SPEED / 1e3, abs=0.016)
    shown.show(100.0, np.zeros(FACES))  # what has not broken is outside
    assert shown._front.get_paths()[0].vertices[:, 0] == pytest.approx(3.5, abs=1e-3)


def test_a_fault_that_does_not_slip_has_no_film(tmp_path: Path) -> None:
    for samples in (1, 4):
        write(tmp_path, np.zeros((samples, 2, FACES)), main=faces(0))
        assert films.slip_rate_film(tmp_path) is None


def test_files_of_different_runs_are_refused(tmp_path: Path) -> None:
    write(tmp_path, slips(4), main=faces(0))
    points = faces(0).take(np.arange(FACES * NODES**2 - 1))
    values = {name: np.zeros(len(points)) for name in FIELDS}
    write_fault_map(tmp_path / NAME, {"main": points}, values, {})
    with pytest.raises(InputError, match=r"287 points, and rupture\.nc 32 subfaults.*run the case"):
        films.slip_rate_film(tmp_path)
