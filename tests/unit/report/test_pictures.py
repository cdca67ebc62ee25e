"""Pictures of a folder of results: which are drawn, and what is said of those that are not."""

from __future__ import annotations

from pathlib import Path

import pytest
from matplotlib.image import imread
from result_files import names, write_results, write_stations, write_summary
from variants import long_variants

from groundswell.report.pictures import Picture, draw_pictures
from groundswell.seismology.plots.shaking_map import shaking_map

pytestmark = pytest.mark.each_value


def test_every_picture_is_drawn_and_wide_enough_for_print(tmp_path: Path) -> None:
    paths = draw_pictures(write_results(tmp_path), pytest.fail)
    assert [p.name for p in paths] == ["shaking_map.png", "seismograms.png", "surface.png"]
    for path in paths:
        height, width, _ = imread(path).shape
        assert width == 1600
        assert 400 < height < 2600
    assert not [name for name in names(tmp_path) if name.endswith(".part")]


def test_only_pictures_with_data_are_drawn(tmp_path: Path) -> None:
    write_summary(tmp_path, {"solver": "earthquake"})
    write_stations(tmp_path)
    assert [p.name for p in draw_pictures(tmp_path, pytest.fail)] == ["seismograms.png"]


@pytest.mark.parametrize(
    "name", ["seismograms.h5", *long_variants(["shaking_map.nc", "surface.nc"])]
)
def test_a_damaged_file_is_a_warning_and_the_others_are_drawn(tmp_path: Path, name: str) -> None:
    write_results(tmp_path)
    (tmp_path / name).write_bytes((tmp_path / name).read_bytes()[:2000])
    warnings: list[str] = []
    pictures = {path.name for path in draw_pictures(tmp_path, warnings.append)}
    missing = f"{name.partition('.')[0]}.png"
    drawn = {"shaking_map.png", "seismograms.png", "surface.png"} - {missing}
    assert missing not in pictures
    # The map of a run with damaged seismograms has no stations to show.
    assert pictures == drawn - ({"shaking_map.png"} if name == "seismograms.h5" else set())
    assert len(warnings) == len({"shaking_map.png", "seismograms.png", "surface.png"} - pictures)
    assert all("cannot be read as NetCDF: " in text for text in warnings)


@pytest.mark.parametrize("case", [None, {}, {"film": False}, {"film": True}])
def test_films_are_drawn_if_the_case_has_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: dict[str, bool] | None
) -> None:
    film = Picture("surface.nc", "film.mp4", "a film", lambda at: at / "film.gif", is_film=True)
    monkeypatch.setattr("groundswell.solvers.earthquake.plots.PICTURES", [film])
    results = write_results(tmp_path, {"solver": "earthquake", "case": case})
    expected = [tmp_path / "film.gif"] if case and case.get("film") else []
    assert draw_pictures(results, pytest.fail) == expected


def test_a_defect_in_a_picture_is_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The package of a solver may raise anything."""

    def broken(folder: Path) -> Path:
        raise ZeroDivisionError("no luck")

    good = Picture("shaking_map.nc", "shaking_map.png", "good", shaking_map)
    bad = Picture("surface.nc", "bad.png", "bad", broken)
    monkeypatch.setattr("groundswell.solvers.earthquake.plots.PICTURES", [bad, good])
    warnings: list[str] = []
    drawn = draw_pictures(write_results(tmp_path), warnings.append)
    assert [path.name for path in drawn] == ["shaking_map.png"]
    assert warnings == ["bad.png could not be drawn: ZeroDivisionError: no luck"]


def test_a_solver_that_is_not_installed_has_no_pictures(tmp_path: Path) -> None:
    warnings: list[str] = []
    assert draw_pictures(write_results(tmp_path, {"solver": "tides"}), warnings.append) == []
    assert len(warnings) == 1 and "tides" in warnings[0]
