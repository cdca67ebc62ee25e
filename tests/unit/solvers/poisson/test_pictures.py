"""Pictures of solutions, by matplotlib and, where it is installed, by pyvista."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import groundswell as gs
from groundswell.errors import CaseError
from groundswell.meshes.box import Box
from groundswell.plotting.style import title_of_run
from groundswell.solvers.poisson import plots
from groundswell.solvers.poisson.case import PoissonCase
from groundswell.solvers.poisson.clipped_view import (
    can_render,
    lattice_faces,
    lattices,
    render_clipped,
    small_elements,
    without_margins,
)
from groundswell.solvers.poisson.film import solution_label
from groundswell.spectral_elements.vtkhdf import LagrangeElements

BENT = Box((2, 2, 1), deform=lambda p: p + 0.1 * p[..., ::-1] ** 2, order=2)
CONTENT: dict[str, Any] = {
    "solver": "poisson",
    "mesh": {"kind": "box", "counts": [2, 2, 1]},
    "equation": {"source": "x"},
    "boundaries": {"west": {"kind": "fixed"}},
    "method": {"degree": 2},
    "output": {"unit": "°C"},
}
needs_pyvista = pytest.mark.skipif(not can_render(), reason="needs pyvista")


def elements() -> LagrangeElements:
    """Of a field that is a polynomial of position."""
    at = np.moveaxis(gs.poisson.nodes(BENT, 5), -1, 0)
    return LagrangeElements.of(BENT, 5, {"u": at[0] * at[1] - at[2]})


def test_lattices_interpolate() -> None:
    found = lattices(elements(), 7)
    assert found.shape == (4, 8**3, 4)
    x, y, z, u = np.moveaxis(found, -1, 0)
    np.testing.assert_allclose(u, x * y - z, rtol=0, atol=1e-12)
    _, ends = np.unique(found[0, :, :3].round(9), axis=0, return_index=True)
    assert len(ends) == 8**3


def test_margins_are_removed() -> None:
    white = np.full((30, 40, 3), 255, np.uint8)
    white[5:9, 10:30] = 17
    assert without_margins(white).shape == (4, 20, 3)


@pytest.mark.parametrize(("attrs", "label"), [({}, "u"), ({"units": "1"}, "u")])
def test_labels_without_a_unit(attrs: dict[str, str], label: str) -> None:
    assert solution_label(attrs) == label


def test_the_unit_is_in_files_and_labels(tmp_path: Path) -> None:
    gs.run(PoissonCase.from_dict(CONTENT), folder=tmp_path / "run")
    found = LagrangeElements.read(tmp_path / "run" / "solution.vtkhdf")
    assert found.attrs["units"] == "°C" and solution_label(found.attrs) == "u (°C)"


@pytest.mark.parametrize("unit", ["$K$", "K\\n", " ", "K" * 21, "K\n"])
def test_units_that_are_no_plain_text(unit: str) -> None:
    with pytest.raises(CaseError, match=r"output.unit = .*: must be plain text of at most 20"):
        PoissonCase.from_dict(CONTENT | {"output": {"unit": unit}})


def test_matplotlib_draws_what_pyvista_cannot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("no display")

    monkeypatch.setattr(plots, "can_render", lambda: True)
    monkeypatch.setattr(plots, "render_outside", fail)
    elements().write(tmp_path / "solution.vtkhdf")
    assert plots.solution_picture(tmp_path).stat().st_size > 10_000


@needs_pyvista
def test_small_elements_fill_the_volume_and_faces_cut_it() -> None:
    found = elements()
    small = small_elements(found)
    fine = gs.poisson.Box((1, 1, 1))
    assert fine.count == 1
    x, y, z = np.moveaxis(np.asarray(small.points), -1, 0)
    np.testing.assert_allclose(small["u"], x * y - z, rtol=0, atol=1e-6)
    plane = {"normal": "y", "origin": (0, 0.6, 0)}
    assert small.slice(**plane).area > 0.5
    assert lattice_faces(found).slice(**plane).n_cells > 20
    assert float(small.compute_cell_sizes()["Volume"].min()) > 0


@needs_pyvista
def test_a_clipped_view(tmp_path: Path) -> None:
    found = elements()
    outside = plots._faces(found, np.arange(4))
    view = render_clipped(found, outside, plots._colours(found.fields["u"]))
    assert view.dtype == np.uint8 and min(view.shape[:2]) > 300
    assert len(np.unique(view.reshape(-1, 3), axis=0)) > 100
    found.write(tmp_path / "solution.vtkhdf")
    assert plots.solution_picture(tmp_path).stat().st_size > 30_000


def test_edges_are_nearer_than_the_quads_beside_them() -> None:
    """Also of long and slanted elements: otherwise their edges look dashed."""
    rng, n = np.random.default_rng(3), 5
    t = np.linspace(0, 1, n)
    long, short = rng.normal(0, 1, (20, 1, 1, 3)), rng.normal(0, 0.1, (20, 1, 1, 3))
    faces = long * t[:, None, None] + short * t[None, :, None]
    depth = plots._nearer(faces, 1.0) @ plots._towards_viewer()
    middles = plots._around(faces).mean(axis=1).reshape(20, n - 1, n - 1, 3)
    quads = (middles @ plots._towards_viewer())[:, :, 0]
    pieces = (depth[:, 1:, 0] + depth[:, :-1, 0]) / 2  # of the edge at the start of `short`
    assert (pieces > quads).all()
    assert (pieces[:, 1:] > quads[:, :-1]).all() and (pieces[:, :-1] > quads[:, 1:]).all()


def test_the_title_of_tables_is_that_of_the_case(tmp_path: Path) -> None:
    assert title_of_run(tmp_path, "Convergence") == "Convergence"
    for title in ("A cold front", ""):
        (tmp_path / "summary.json").write_text(json.dumps({"title": title}))
        assert title_of_run(tmp_path, "Convergence") == (title or "Convergence")
