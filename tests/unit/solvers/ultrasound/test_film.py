"""Films of ultrasound: the plane, the frames, and what `check` says of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from ultrasound_cases import ARC, BURST, build

import groundswell as gs
from groundswell.report.pictures import draw_pictures
from groundswell.solvers.ultrasound import film
from groundswell.solvers.ultrasound.film_check import film_quantities, film_warnings
from groundswell.solvers.ultrasound.film_plane import plane_of
from groundswell.solvers.ultrasound.setup import Setup, prepare

MM = 1e-3
BOX: dict[str, Any] = {"points": (24, 24, 24), "spacing": "0.25 mm", "duration": "1 us"}
WATER = {"speed": 1500.0, "density": 1000.0}
SINE = {"kind": "sine", "frequency": "1 MHz"}


def solid(shape: Any, **source: Any) -> Setup:
    """A set-up in three dimensions with one source."""
    table = {"shape": shape, "signal": BURST, "pressure": 1e3, **source}
    return prepare(gs.ultrasound.build_case(WATER, [table], **BOX))


@pytest.fixture(scope="module")
def result() -> gs.Result:
    """A beam through a layer, in two dimensions."""
    speed = np.full((40, 50), 1500.0)
    speed[:, 20:26] = 2400.0
    source = {"shape": ARC, "pressure": "1 MPa", "signal": BURST}
    return gs.ultrasound.simulate(
        {"speed": speed, "density": 1000.0},
        [source],
        **{"spacing": "0.25 mm", "duration": "3 us", "output": {"film": True}},
    )


@pytest.mark.parametrize(
    ("apex", "focus", "expected"),
    [
        ((3, 2, 0.5), (3, 2, 4), (1, 2 * MM)),  # along z: x and z in the plane
        ((0.5, 2, 3), (4, 2, 3), (1, 2 * MM)),
        ((3, 0.5, 2), (3, 4, 2), (2, 2 * MM)),
        ((0.5, 1, 1.5), (4, 4, 2), (2, 2 * MM)),  # oblique
    ],
)
def test_the_plane_contains_the_beam(apex: Any, focus: Any, expected: tuple[int, float]) -> None:
    at = {"apex": [n * MM for n in apex], "focus": [n * MM for n in focus]}
    found = plane_of(solid({"kind": "bowl", "radius": "4 mm", "diameter": "2 mm", **at}))
    assert found == (expected[0], pytest.approx(expected[1]))


def test_a_plane_transducer_has_a_beam_along_its_normal() -> None:
    disc = {"kind": "disc", "centre": [2 * MM, 0.5 * MM, 3 * MM], "diameter": "2 mm"}
    assert plane_of(solid({**disc, "normal": [0, 1, 0]})) == (2, pytest.approx(3 * MM))
    steered = solid({**disc, "normal": [0, 1, 0]}, steering=[2 * MM, 4 * MM, 4 * MM])
    assert plane_of(steered) == (0, pytest.approx(2 * MM))


def test_without_a_beam_it_is_the_middle_plane() -> None:
    point = {"kind": "point", "position": [3 * MM, 1 * MM, 2 * MM]}
    assert plane_of(solid(point)) == (1, pytest.approx(23 / 2 * 0.25 * MM))


def test_frames_cover_the_run(result: gs.Result) -> None:
    summary, plane = result.summary["case"], result.records["film.nc"]
    assert summary["film"] is True
    assert 30 <= plane.sizes["time"] <= 120
    every = np.diff(plane["time"])
    np.testing.assert_allclose(every, every[0])
    assert 3e-6 - 1.01 * every[0] < plane["time"][-1] <= 3e-6 * (1 + 1e-12)
    peak = result.fields["p_max"].isel(z=0).load()
    largest = plane["p"].max("time").squeeze()
    assert (largest <= peak.values * (1 + 1e-6)).all()
    assert float(largest.max()) > 0.9 * float(peak.max())


def test_films_are_drawn_on_request(result: gs.Result, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("groundswell.plotting.film.MOST_FRAMES", 4)
    drawn = {path.stem: path for path in draw_pictures(result.folder, pytest.fail)}
    assert drawn["film"].suffix in (".mp4", ".gif") and drawn["film"].stat().st_size > 10_000


def test_colours_are_symmetric_and_times_in_microseconds(result: gs.Result) -> None:
    plane = film._read(result.folder / "film.nc").drop_vars("z")
    figure, limit = Figure(), float(abs(plane["p"]).max())
    texts = []
    for _ in film._frames(figure, plane, None):
        (axes,) = figure.axes
        texts += [text.get_text() for text in axes.texts if "Pressure" in text.get_text()]
    (image,) = axes.images
    unit = 1e6 if limit >= 1e6 else 1e3
    assert image.get_clim() == pytest.approx((-limit / unit, limit / unit), rel=1e-6)
    assert texts[0].startswith("Pressure at 0.00 µs; colours to ±")
    assert f" at {float(plane.time[-1]) * 1e6:.2f} µs;" in texts[-1]


def test_check_says_the_size_and_warns_of_too_few_frames() -> None:
    setup = prepare(build(output__film=True))
    (shown,) = film_quantities(setup)
    assert shown.value is True and "frames of 50 x 40 points" in str(shown)
    assert "film.nc has" in str(shown)
    assert list(film_warnings(setup)) == []
    long = prepare(build(output__film=True, time__duration="60 us", source__0__signal=SINE))
    (text,) = film_warnings(long)
    assert "frames in a period of 1 MHz" in text and 'time.duration to "30 us"' in text
