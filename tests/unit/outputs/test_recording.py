"""`[[output.record]]` on grids: every place and every statistic, against NumPy in float64.

Fields have random values at every step, and a rank sees its own and the ghosts that it is sent;
all others are not numbers.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from interpolation_oracle import interpolate
from numpy.typing import NDArray
from recorded_truth import GRID, SPACING, STEPS, chosen, read
from recording_runs import FIELDS, SECONDS, Film, record, renamed, section

from groundswell.case.recording import RecordSection
from groundswell.grids.cartesian import GHOSTS, Grid
from groundswell.outputs.stencils import stencil

pytestmark = pytest.mark.each_value


CUTS = [(1, 1, 1), (3, 1, 1), (1, 3, 1), (1, 1, 3), (2, 2, 1), (2, 1, 2)]


TOLERANCE = {"float32": 1e-6, "float64": 1e-14}
WHATS = ["raw", "max", "min", "rms", "mean", "final"]
cuts = st.sampled_from(CUTS)
quick = settings(max_examples=8, suppress_health_check=[HealthCheck.too_slow])


# --- what is true ---------------------------------------------------------------------------------


def truth(film: Film, of: RecordSection, name: str, what: str) -> NDArray[Any]:
    values = chosen(of.where, film.region(name))
    begin = round(of.begin / SECONDS) if isinstance(of.begin, float) else of.begin
    every = max(1, round(of.interval / SECONDS)) if of.interval else (of.every or 1)
    samples = values[begin:STEPS:every]
    if what == "rms":
        return np.sqrt((samples**2).mean(axis=0))
    found = {"raw": samples, "final": values[STEPS]}
    return found[what] if what in found else getattr(samples, what)(axis=0)


def assert_true(film: Film, of: RecordSection, folder: Path) -> None:
    alone = "raw" not in of.what
    beside = folder / (of.file if alone else f"{Path(of.file).stem}_statistics.nc")
    for what in of.what:
        found = read(folder, of.file if what == "raw" else beside.name)
        for name in of.fields:
            values = found[name if what == "raw" else f"{name}_{what}"]
            wanted = truth(film, of, name, what)
            assert values.shape == wanted.shape
            scale = TOLERANCE[film.dtype] * max(1.0, np.abs(wanted).max())
            assert np.abs(values.values - wanted).max() <= scale, (name, what)
            assert values.attrs["units"] == FIELDS[name].units


# --- random records -------------------------------------------------------------------------------


@st.composite
def places(draw: Any) -> dict[str, Any]:
    rng = np.random.default_rng(draw(st.integers(0, 9999)))
    extent = np.multiply(GRID.region, SPACING)
    stride = draw(st.integers(1, 3))
    kind = draw(st.sampled_from(["all", "box", "plane", "mask", "points"]))
    if kind == "all":
        return {"kind": kind, "stride": stride}
    if kind == "box":
        ends = np.sort(rng.uniform(0, extent, (2, 3)), axis=0)
        middle = rng.integers(0, GRID.region) + 0.5  # one of the middles at least
        low, high = np.minimum(ends[0], middle * SPACING), np.maximum(ends[1], middle * SPACING)
        return {"kind": kind, "low": low.tolist(), "high": high.tolist(), "stride": stride}
    if kind == "plane":
        axis = draw(st.integers(0, 2))
        return {
            "kind": kind,
            "normal": "xyz"[axis],
            "at": rng.uniform(0, extent[axis]),
            "stride": stride,
        }
    if kind == "mask":
        count = int(np.prod(GRID.region))
        indices = rng.choice(count, draw(st.integers(1, 40)), replace=False)
        return {"kind": kind, "indices": indices.tolist()}
    positions = rng.uniform(0, extent, (draw(st.integers(1, 9)), 3))
    return {"kind": kind, "positions": positions.tolist()}


@st.composite
def records(draw: Any) -> RecordSection:
    fields = draw(st.lists(st.sampled_from([*FIELDS]), min_size=1, max_size=3, unique=True))
    what = draw(st.lists(st.sampled_from(WHATS), min_size=1, max_size=6, unique=True))
    every = draw(st.sampled_from([{}, {"every": 2}, {"every": 3}, {"interval": 4.2 * SECONDS}]))
    begin = draw(st.sampled_from([0, 3, 5, 2 * SECONDS, "0.5 s"]))
    return section(fields=fields, where=draw(places()), what=what, **every, **{"from": begin})


@quick
@given(st.lists(records(), min_size=1, max_size=3), cuts, st.sampled_from(["float32", "float64"]))
def test_records_are_what_numpy_says(wanted: Any, cut: Any, dtype: str) -> None:
    film = Film.random(GRID, STEPS, seed=3, dtype=dtype)
    with TemporaryDirectory() as folder:
        record(film, renamed(wanted), Path(folder), cut, STEPS)
        for of in renamed(wanted):
            assert_true(film, of, Path(folder))


@pytest.mark.full
@quick
@given(st.lists(records(), min_size=1, max_size=2), cuts, cuts, st.integers(1, STEPS - 1))
def test_a_restart_on_other_ranks_changes_no_bit(
    wanted: Any, before: Any, cut: Any, middle: int
) -> None:
    film, sections = Film.random(GRID, STEPS, seed=4, dtype="float32"), renamed(wanted)
    with TemporaryDirectory() as folder:
        whole, parts = Path(folder) / "whole", Path(folder) / "parts"
        record(film, sections, whole, (1, 1, 1), STEPS)
        record(film, sections, parts, cut, STEPS, resume=(middle, before))
        names = {p.name for p in whole.iterdir()}
        assert names == {p.name for p in parts.iterdir() if not p.name.startswith("checkpoint")}
        for name in names:
            expected, found = read(whole, name), read(parts, name)
            assert expected.keys() == found.keys()
            for key, values in expected.items():
                assert values.values.tobytes() == found[key].values.tobytes(), (name, key)


# --- interpolation --------------------------------------------------------------------------------


def polynomials(degree: int) -> tuple[Film, Any]:
    """A film of polynomials, and their values anywhere."""
    rng = np.random.default_rng(degree)
    factors = {name: rng.normal(size=(STEPS + 1, *(degree + 1,) * 3)) for name in FIELDS}
    scale = np.multiply(GRID.region, SPACING)

    def at(name: str, x: Any, y: Any, z: Any) -> Any:
        given = (np.asarray(a) / s for a, s in zip((x, y, z), scale, strict=True))
        powers = [np.power.outer(a, np.arange(degree + 1)) for a in given]
        return np.einsum("tabc,...a,...b,...c->t...", factors[name], *powers)

    def values(name: str) -> Any:
        x, y, z = (
            (np.arange(-GHOSTS, n + GHOSTS) - before + 0.5 + offset) * h
            for n, before, offset, h in zip(
                GRID.cells, GRID.before, FIELDS[name].offset, SPACING, strict=True
            )
        )
        zs, ys, xs = np.meshgrid(z, y, x, indexing="ij")
        return at(name, xs, ys, zs)

    return Film(GRID, {name: values(name) for name in FIELDS}), at


@pytest.mark.most(4)
@pytest.mark.parametrize("cut", [*CUTS, (7, 1, 1), (1, 5, 1), (1, 1, 5)])
@pytest.mark.parametrize(("method", "degree"), [("linear", 1), ("cubic", 3)])
def test_interpolation_carries_polynomials(
    tmp_path: Path, method: str, degree: int, cut: Any
) -> None:
    """Between nodes, also where these lie in several blocks, some of them of a single cell."""
    film, at = polynomials(degree)
    rng = np.random.default_rng(8)
    low, high = np.multiply(SPACING, 0.5), np.multiply(SPACING, np.subtract(GRID.region, 1.0))
    positions = rng.uniform(low, high, (40, 3))
    where = {"kind": "points", "positions": positions.tolist(), "method": method}
    wanted = section(fields=[*FIELDS], where=where, what=["raw", "max", "final"])
    record(film, [wanted], tmp_path, cut, STEPS)
    series, known = read(tmp_path, "r.nc"), read(tmp_path, "r_statistics.nc")
    for name, field in FIELDS.items():
        exact = at(name, *positions.T) + field.shift
        assert np.abs(series[name].values - exact[:STEPS]).max() < 1e-11 * np.abs(exact).max()
        assert known[f"{name}_final"].values == pytest.approx(exact[STEPS], rel=1e-10, abs=1e-9)
        assert (known[f"{name}_max"].values == series[name].values.max(axis=0)).all()


@pytest.mark.parametrize("cut", [(1, 1, 1), (2, 1, 1), (1, 2, 1), (7, 1, 1), (1, 1, 2)])
@pytest.mark.parametrize(("method", "taps"), [("linear", 2), ("cubic", 4)])
@pytest.mark.parametrize("cells", [(7, 6, 8), (7, 2, 8)], ids=["long", "as short as a stencil"])
def test_interpolation_continues_across_the_seams_of_periodic_axes(
    tmp_path: Path, method: str, taps: int, cut: Any, cells: Any
) -> None:
    grid = Grid(cells, SPACING)
    film = Film.random_periodic(grid, STEPS, seed=10, periodic=(True, True, False))
    rng, extent = np.random.default_rng(11), np.multiply(cells, SPACING)
    positions = rng.uniform(0, extent, (60, 3))
    positions[:40, :2] = rng.uniform(-0.5, 0.5, (40, 2)) * SPACING[:2] % extent[:2]
    positions[:4, :2] = [[0, 0], extent[:2], [0, extent[1]], [extent[0], 0]]
    positions[:, 2] = rng.uniform(3, 5, 60) * SPACING[2]
    where = {"kind": "points", "positions": positions.tolist(), "method": method}
    record(film, [section(fields=[*FIELDS], where=where, what="final")], tmp_path, cut, STEPS)
    found = read(tmp_path, "r.nc")
    for name, field in FIELDS.items():
        places = positions / SPACING - 0.5 - field.offset
        values = film.region(name)[STEPS]
        wanted = [interpolate(values, place, taps) for place in places]
        assert np.abs(found[f"{name}_final"].values - wanted).max() < 1e-10


def test_a_line_is_sampled_from_end_to_end(tmp_path: Path) -> None:
    film, at = polynomials(1)
    where = {"kind": "line", "start": [5, 10, 2.5], "end": [60, 100, 20], "points": 9}
    record(film, [section(where=where, what="final")], tmp_path, (2, 2, 1), STEPS)
    found = read(tmp_path, "r.nc")
    ends = np.linspace([5, 10, 2.5], [60, 100, 20], 9)
    assert found["distance"].values == pytest.approx(np.linalg.norm(ends - ends[0], axis=1))
    assert found["a_final"].values == pytest.approx(at("a", *ends.T)[STEPS], rel=1e-10)


@given(st.integers(1, 9), st.sampled_from([1, 2, 4]), st.integers(0, 99))
def test_weights_add_up_and_stay_small_beyond_the_ends(count: int, most: int, seed: int) -> None:
    taps = min(most, count)
    at = np.random.default_rng(seed).uniform(-1, count, 20)
    first, weights = stencil(at, count, taps)
    assert (first >= 0).all() and (first + taps <= count).all()
    assert weights.sum(axis=1) == pytest.approx(np.ones(20))
    assert np.abs(weights).max() <= 2 + 1e-12
    if taps > 1:
        nodes = first[:, None] + np.arange(taps)
        assert (weights * nodes).sum(axis=1) == pytest.approx(at, abs=1e-9)
