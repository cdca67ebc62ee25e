"""Shot gathers: offsets, wiggles and ticks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.image import imread
from result_files import EVENT, Site, rng

from groundswell.seismology.formats.seismograms import PRESSURE, SeismogramWriter, read_seismograms
from groundswell.seismology.plots import shot_gather as gather
from groundswell.seismology.plots.shot_gather import offsets, shot_gather

pytestmark = pytest.mark.each_value


def write_gather(folder: Path, sites: list[Site], block: Any, **attrs: Any) -> None:
    path, known = folder / "pressure.h5", {**EVENT, **attrs}
    with SeismogramWriter(path, sites, interval=0.004, attrs=known, quantity=PRESSURE) as writer:
        writer.append(block)


def gather_sites(x: Any, kind: str = "hydrophone") -> list[Site]:
    return [Site("", f"{kind[0]}{n}", (at, 2000.0, 10.0), kind=kind) for n, at in enumerate(x)]


def test_offsets_have_the_sign_of_the_side(tmp_path: Path) -> None:
    turned = np.radians(130.0)
    along = np.array([-700.0, 400.0, -50.0, 900.0, 1300.0])
    sites = [
        Site("", f"H{n}", (3000 + u * np.cos(turned), 2000 + u * np.sin(turned), 5.0))
        for n, u in enumerate(along)
    ]
    write_gather(tmp_path, sites, rng.normal(size=(8, 5, 1)))
    array = read_seismograms(tmp_path / "pressure.h5", PRESSURE)
    assert offsets(array) == pytest.approx(along)
    assert offsets(array[[0, 2]]) == pytest.approx([700, 50])


def test_wiggles_are_filled_where_pressure_is_positive(tmp_path: Path) -> None:
    """A panel for each kind; a trace deflects to the right of its offset by at most its scale."""
    x = 3000.0 + 100.0 * np.arange(5)
    sites = gather_sites(x) + gather_sites(x, "ocean-bottom-node")
    # Its own generator: in an order of tests that others change, a trace may never be positive.
    block = np.cumsum(np.random.default_rng(7).normal(size=(60, 10, 1)), axis=0)
    write_gather(tmp_path, sites, block)
    array = read_seismograms(tmp_path / "pressure.h5", PRESSURE)[:, 0]
    axes = Figure().add_subplot()
    gather._draw(axes, array[:5], "hydrophone")
    assert axes.get_title() == "5 hydrophones" and axes.get_ylim() == (59 * 0.004, 0)
    for line, at, trace in zip(axes.lines, x - 3000, array.values, strict=False):
        deflection = 1.2 * 100 * trace / np.abs(trace).max()
        assert np.asarray(line.get_xdata()) == pytest.approx(at + deflection)
    filled = axes.collections[2].get_paths()
    assert min(path.vertices[:, 0].min() for path in filled) == pytest.approx(200)
    assert imread(shot_gather(tmp_path))[..., :3].std() > 0.05


@pytest.mark.parametrize("count", [1, 300])
def test_one_or_many_traces_of_silence_are_drawn(tmp_path: Path, count: int) -> None:
    sites = gather_sites(3000.0 + 10.0 * np.arange(count))
    write_gather(tmp_path, sites, np.zeros((20, count, 1)))
    assert shot_gather(tmp_path).stat().st_size > 5_000


def test_a_single_trace_has_one_tick_at_its_offset(tmp_path: Path) -> None:
    write_gather(tmp_path, gather_sites([4063.02]), rng.normal(size=(20, 1, 1)))
    axes = Figure().add_subplot()
    gather._draw(axes, read_seismograms(tmp_path / "pressure.h5", PRESSURE)[:, 0], "hydrophone")
    assert [label.get_text() for label in axes.get_xticklabels()] == ["1063"]
