"""What notebooks show of a run."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from pixel_pictures import pixels_drawn
from result_files import write_results, write_summary

import groundswell as gs
from groundswell.errors import InputError
from groundswell.report.notebook import Pictures
from groundswell.simulation.summary import read_summary

pytestmark = pytest.mark.each_value
PICTURES = ["shaking_map.png", "seismograms.png", "surface.png"]
SUMMARY = {
    "solver": "earthquake",
    "title": "waves & <rock>",
    "device": "a GPU",
    "findings": {"quantities": [{"label": "largest <v>", "text": "3 m/s", "group": "motion"}]},
}


@pytest.fixture(scope="module", autouse=True)
def _pixels() -> Iterator[None]:
    with pixels_drawn():
        yield


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> gs.Result:
    return gs.Result(write_results(tmp_path_factory.mktemp("run"), SUMMARY))


@pytest.fixture(scope="module")
def pictures(result: gs.Result) -> Pictures:
    return result.plot()


def embedded(shown: str) -> list[bytes]:
    return [base64.b64decode(data) for data in re.findall('base64,([^"]*)"', shown)]


def test_plot_draws_all_pictures_and_lists_them(result: gs.Result, pictures: Pictures) -> None:
    assert [path.name for path in pictures] == PICTURES and len(pictures) == 3
    assert set(PICTURES) <= set(read_summary(result.folder)["files"])
    assert embedded(pictures._repr_html_()) == [path.read_bytes() for path in pictures]
    assert all(f"<figcaption>{each}<" in pictures._repr_html_() for each in pictures.captions)


def test_plot_returns_the_pictures_that_are_asked_for(result: gs.Result) -> None:
    assert [path.name for path in result.plot("surface", "shaking_map")] == PICTURES[2::-2]


def test_a_picture_that_a_run_lacks_is_an_error(result: gs.Result) -> None:
    text = 'no picture is "surfac": it has shaking_map, seismograms or surface'
    with pytest.raises(InputError, match=rf'{text} \(did you mean "surface"'):
        result.plot("surfac")


def test_a_result_shows_numbers_and_its_first_picture(
    result: gs.Result, pictures: Pictures
) -> None:
    shown = result._repr_html_()
    assert "<h4>waves &amp; &lt;rock&gt;</h4><p>earthquake, a GPU" in shown
    assert "<td>largest &lt;v&gt;</td><td><b>3 m/s</b></td>" in shown
    assert embedded(shown) == [pictures.paths[0].read_bytes()]
    assert all(f"<li>{name}</li>" in shown for name in PICTURES)


def test_a_result_without_pictures_draws_them(tmp_path: Path) -> None:
    shown = gs.Result(write_results(tmp_path, SUMMARY))._repr_html_()
    assert embedded(shown) == [(tmp_path / PICTURES[0]).read_bytes()]


def test_a_result_without_anything_to_draw(tmp_path: Path) -> None:
    write_summary(tmp_path, {"solver": "earthquake", "title": "nothing"})
    assert "<img" not in gs.Result(tmp_path)._repr_html_()
    with pytest.raises(InputError, match="it has none"):
        gs.Result(tmp_path).plot("surface")
