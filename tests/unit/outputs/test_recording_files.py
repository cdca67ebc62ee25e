"""Files of `[[output.record]]` on grids: coordinates, images, masks, and refusals."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import xarray
from recorded_truth import GRID, SPACING, STEPS, chosen, middles, read
from recording_runs import SECONDS, Film, offered, record, renamed, section
from thread_ranks import ThreadRank

from groundswell.backends import host_threads
from groundswell.backends.cpu import CpuBackend
from groundswell.errors import InputError
from groundswell.grids.cartesian import Part

pytestmark = pytest.mark.each_value


# --- files ----------------------------------------------------------------------------------------


def test_fields_that_lie_elsewhere_have_their_own_coordinates(tmp_path: Path) -> None:
    film = Film.random(GRID, STEPS, seed=5, dtype="float64")
    wanted = section(fields=["a", "b", "c"], where={"kind": "all"}, every=5)
    record(film, [wanted], tmp_path, (1, 2, 1), STEPS)
    with xarray.open_dataset(tmp_path / "r.nc", engine="h5netcdf") as found:
        assert found["a"].dims == ("time", "z", "y", "x")
        assert found["b"].dims == ("time", "z", "y", "x_b")
        assert found["c"].dims == ("time", "z_c", "y_c", "x_b")
        assert found["x_b"].values == pytest.approx(middles(0) - SPACING[0] / 2)
        assert found["time"].values == pytest.approx([0, 5 * SECONDS, 10 * SECONDS])
        assert found["a"].attrs["units"] == "m s-1" and found.attrs["title"] == "film"


def test_images_open_in_paraview_where_they_belong(tmp_path: Path) -> None:
    film = Film.random(GRID, STEPS, seed=6, dtype="float32")
    where = {"kind": "box", "low": [15, 30, 2.5], "high": [55, 110, 12.5], "stride": 2}
    wanted = section(where=where, every=4, file="r.vtkhdf")
    record(film, [wanted], tmp_path, (2, 1, 1), STEPS)
    with h5py.File(tmp_path / "r.vtkhdf") as file:
        group = file["VTKHDF"]
        assert group.attrs["Spacing"] == pytest.approx([20, 40, 10])
        assert group.attrs["Origin"] == pytest.approx([15 - 10, 30 - 20, 2.5 - 5])
        assert group["Steps/Values"][:] == pytest.approx([0, 4 * SECONDS, 8 * SECONDS])
        expected = chosen(wanted.where, film.region("a"))[:STEPS:4]
        np.testing.assert_array_equal(group["CellData/a"][:], expected.astype("f4"))


def test_positions_and_masks_come_from_files(tmp_path: Path) -> None:
    film = Film.random(GRID, STEPS, seed=7, dtype="float64")
    (tmp_path / "points.csv").write_text("12, 31, 4\n55 70 20\n")
    mask = np.random.default_rng(1).random(GRID.region[::-1]) < 0.2
    np.save(tmp_path / "mask.npy", mask)
    np.save(tmp_path / "indices.npy", np.flatnonzero(mask))
    files = [
        section(where={"kind": "points", "file": tmp_path / "points.csv"}, what="final"),
        section(where={"kind": "mask", "file": tmp_path / "mask.npy"}, what="final"),
        section(where={"kind": "mask", "file": tmp_path / "indices.npy"}, what="final"),
        section(where={"kind": "mask", "indices": mask.ravel()}, what="final"),
    ]
    record(film, renamed(files), tmp_path / "out", (1, 3, 1), STEPS)
    last = film.region("a")[STEPS]
    found = [read(tmp_path / "out", f"r{n}.nc")["a_final"].values for n in range(4)]
    assert found[0].tolist() == [last[0, 1, 1], last[4, 3, 5]]
    for values in found[1:]:
        assert (values == last[mask]).all()


def test_statistics_without_a_sample_are_not_numbers(tmp_path: Path) -> None:
    film = Film.random(GRID, STEPS, seed=9, dtype="float64")
    late = section(where={"kind": "all"}, what=["max", "mean", "final"], **{"from": STEPS})
    record(film, [late], tmp_path, (1, 1, 1), STEPS)
    found = read(tmp_path, "r.nc")
    assert np.isnan(found["a_max"]).all() and np.isnan(found["a_mean"]).all()
    assert (found["a_final"].values == film.region("a")[STEPS]).all()


@pytest.mark.most(1)
@pytest.mark.parametrize("cut", [(2, 1, 1), (1, 2, 2)])
def test_ranks_of_a_host_copy_statistics_from_the_device_in_parts(
    cut: tuple[int, int, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each writes its own values; on several hosts, one rank gathers and writes the same."""
    copied, to_host = list[int](), CpuBackend.to_host

    def counted(self: CpuBackend, array: Any, after: Any = None) -> Any:
        copied.append(array.size)
        return to_host(self, array, after)

    monkeypatch.setattr(CpuBackend, "to_host", counted)
    monkeypatch.setattr(host_threads, "CHUNK", 50)
    film = Film.random(GRID, STEPS, seed=11, dtype="float64")
    what = ["max", "mean", "rms", "final"]
    wanted = section(fields=["a", "b"], where={"kind": "all"}, what=what)
    record(film, [wanted], tmp_path / "one", (1, 1, 1), STEPS)
    with monkeypatch.context() as host:
        host.setattr(ThreadRank, "same_host", property(lambda rank: list(range(rank.size))))
        record(film, [wanted], tmp_path / "several", cut, STEPS)
    assert max(copied) <= 50
    record(film, [wanted], tmp_path / "hosts", cut, STEPS)
    assert max(copied) > 50
    one, *others = (read(tmp_path / name, "r.nc") for name in ("one", "several", "hosts"))
    for (name, values), other in product(one.items(), others):
        xarray.testing.assert_identical(values, other[name])
    samples = film.region("a")[:STEPS]
    np.testing.assert_array_equal(one["a_max"], samples.max(axis=0))
    np.testing.assert_allclose(one["a_rms"], np.sqrt(np.mean(samples**2, axis=0)), rtol=1e-14)


# --- refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("where", "told"),
    [
        ({"kind": "points", "positions": [[10, 10, 10], [10, 500, 10]]}, "y = 500 m .* 0 to 120 m"),
        ({"kind": "points", "positions": [[-1, 10, 10]]}, "x = -1 m .* outside the domain"),
        ({"kind": "plane", "normal": "z", "at": 26.0}, "z = 26 m .* allowed: 0 to 25 m"),
        ({"kind": "box", "low": [11, 0, 0], "high": [14, 9, 9]}, "between x = 11 and 14 m"),
        ({"kind": "mask", "indices": [3, 210]}, "index 210; .* 0 to 209"),
        ({"kind": "plane", "normal": "z", "at": 1.0, "points": [3, 3]}, "choose stride"),
    ],
)
def test_places_that_are_not_there_are_refused(where: dict[str, Any], told: str) -> None:
    film = Film(GRID, {"a": np.zeros(1)})
    with pytest.raises(InputError, match=told):
        offered(film, Part.whole(GRID)).select(section(where=where))


def test_a_record_that_begins_too_late_is_refused() -> None:
    film = Film(GRID, {"a": np.zeros(1)})
    late = section(where={"kind": "all"}, **{"from": 20})
    with pytest.raises(InputError, match="begins at step 20, but the run has 11 steps"):
        offered(film, Part.whole(GRID)).require_samples([late], STEPS)
