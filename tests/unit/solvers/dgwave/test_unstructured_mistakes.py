"""DG waves on meshes of Gmsh: what is said of each mistake."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dense_spectral_elements import shuffled
from dgwave_cases import build
from gmsh_cases import ROCK, SEA, SIZE, on_mesh, write
from gmsh_files import cells_of, numbered, save
from numpy.typing import NDArray

from groundswell.errors import CaseError, InputError
from groundswell.meshes.box import Box
from groundswell.simulation.preparation import prepare

pytestmark = pytest.mark.each_value


VOLUMES = {"sea": SEA, "rock": ROCK}
SURFACES = {"top": "free-surface", "rest": "absorbing"}
AIRGUN = {
    **{"kind": "airgun", "x": 430, "y": 450, "depth": 5000, "strength": "20 bar m"},
    "time_function": {"kind": "ricker", "frequency": 4},
}
AWP = {"kind": "awp", "file": "a.msh", "points": 1, "steps": 3, "step": 0.02, "format": "text"}
OUTSIDE = [{"name": name, "x": 9, "y": 9, "depth": 601} for name in "AB"]
MISFITS = [
    ({"medium__volumes": {**VOLUMES, "ice": ROCK}}, "has no physical volume 'ice'; it has rock, s"),
    ({"medium__volumes": {"sea": SEA}}, "medium.volumes lacks the physical volume 'rock' of the"),
    ({"boundary__surfaces": {**SURFACES, "tip": "rigid"}}, "has no physical surface 'tip'; it has"),
    ({"boundary__surfaces": {"top": "rigid"}}, "boundary.surfaces lacks the physical surface 'res"),
    ({"source__0__x": 900}, r"source\[0\] lies outside the mesh, at x = 900 m"),
    ({"source": [AIRGUN]}, r"source\[0\]: the source lies outside the mesh, .* depth of 5000 m"),
    ({"source": [AWP]}, r"source\[0\]: positions .* \"awp\" are indices of the cells of a grid"),
    ({"receiver": OUTSIDE}, "receiver A lies outside the m.*\nreceiver B lies outside the mesh"),
]


@pytest.mark.parametrize(("changes", "message"), MISFITS)
def test_what_does_not_fit_is_told(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    path = write(tmp_path / "a.msh")
    with pytest.raises(InputError, match=message):
        prepare(build(tmp_path, **{**on_mesh(path), **changes}))


def test_bad_elements_are_told(tmp_path: Path) -> None:
    """At the nodes of the degree, where the file's own nodes may be sound; and gaps."""

    def fold(points: NDArray[Any]) -> NDArray[Any]:
        moved = points.copy()
        moved[..., 0] += 80 * np.sin(2 * np.pi * points[..., 0] / 200 + 2)
        return moved

    with pytest.raises(InputError, match=r"inverted|folded"):
        prepare(build(tmp_path, **on_mesh(write(tmp_path / "a.msh", 2, fold)), method__degree=4))
    mesh = shuffled(Box((2, 1, 1), high=SIZE), np.random.default_rng(0))
    points, numbers = numbered(mesh)
    twice = np.arange(16).reshape(2, 8)  # every element has points of its own
    path = save(
        tmp_path / "b.msh", points[numbers].reshape(-1, 3), cells_of(twice, twice[:, :6] * 0)
    )
    with pytest.raises(InputError, match="pairs of nodes coincide"):
        prepare(build(tmp_path, **on_mesh(path)))


def test_elements_need_a_volume(tmp_path: Path) -> None:
    mesh = shuffled(Box((2, 1, 1), high=SIZE), np.random.default_rng(0))
    points, numbers = numbered(mesh)
    tags = 2 * (mesh.tags(np.arange(2)) > 0)
    cells = cells_of(numbers, tags, np.array([0, 2]))
    path = save(tmp_path / "a.msh", points, cells, {"rest": (2, 2), "rock": (2, 3)})
    changes = on_mesh(path, medium={"kind": "volumes", "volumes": {"rock": ROCK}})
    with pytest.raises(InputError, match=r"a.msh: 1 element in no physical volume"):
        prepare(build(tmp_path, **changes, boundary__surfaces={"rest": "absorbing"}))
    path = save(tmp_path / "b.msh", points, cells_of(numbers, tags, 0))
    changes["grid"] = {"file": str(path)}
    with pytest.raises(InputError, match=r"has no physical volume 'rock'; it has none"):
        prepare(build(tmp_path, **changes))


MISTAKES = [
    ({"medium": {"kind": "awp", "file": __file__, "cells": [1, 1, 1], "variables": 3}},
     "medium.kind", "needs the cells of a grid"),
    ({"medium__volumes__sea": {"kind": "awp"}}, "medium.volumes.sea.kind", "homogeneous, layered"),
    ({"medium__volumes__sea": {**SEA, "vs": 1400}}, "medium.volumes.sea.vp", "must exceed sqrt"),
    ({"boundary": {"top": "rigid"}}, "boundary.top", "is available only on a grid of bricks"),
    ({"boundary__surfaces__rest": "sponge"}, "boundary.surfaces.rest", "or a sponge such as"),
    ({"boundary__surfaces__rest": {"kind": "pml"}}, "boundary.surfaces.rest", "or a sponge such"),
    ({"boundary__surfaces__rest": {"kind": "sponge"}}, "boundary.surfaces.rest.width", "is requir"),
    ({"boundary__surfaces__rest": {"kind": "sponge", "width": 0}},
     "boundary.surfaces.rest.width", "must be greater than 0"),
    ({"refinement": {"frequency": 9}}, "refinement", "is available only on a grid of bricks"),
    ({"topography": {"kind": "formula", "elevation": 0}},
     "topography", "remove it; surface and sea floor are those of the mesh"),
    ({"grid": {"file": "no.msh"}}, "grid.file", "does not exist"),
    ({"grid__vertical": "left"}, "grid.vertical", 'must be "up" or "down"'),
    ({"grid__spacing": 3}, "grid.spacing", "is not a key here"),
    ({"source__0__depth": -5}, "source[0].depth", "lies above the surface"),
    ({"receiver": [{"name": "A", "longitude": 1, "latitude": 2, "depth": 0}]},
     "receiver[0].longitude", "needs [grid.geography]"),
    ({"receiver": [], "receivers": {"file": __file__, "outside": "skip"}},
     "receivers.outside", "on a mesh; leave out the stations beside it"),
    ({"source": [{"kind": "event", "file": __file__}]},
     "source[0].kind", "has a longitude and latitude; give x and y of the source"),
    ({"source": [{"kind": "fsp", "file": __file__}]},
     "source[0].kind", "has longitudes and latitudes; give x and y of the subfault"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "key", "allowed"), MISTAKES)
def test_each_mistake_is_one_problem(
    tmp_path: Path, changes: dict[str, Any], key: str, allowed: str
) -> None:
    path = write(tmp_path / "a.msh")
    with pytest.raises(CaseError) as caught:
        build(tmp_path, **{**on_mesh(path), **changes})
    [problem] = caught.value.problems
    assert problem.key == key and allowed in problem.allowed


GRID_MISTAKES = [
    ({"medium": {"kind": "volumes", "volumes": VOLUMES}}, "medium.kind", "only on a mesh from a f"),
    (
        {"boundary__surfaces": SURFACES},
        "boundary.surfaces",
        "is available only on a mesh from a file",
    ),
]


@pytest.mark.parametrize(("changes", "key", "allowed"), GRID_MISTAKES)
def test_grids_have_no_volumes(changes: dict[str, Any], key: str, allowed: str) -> None:
    with pytest.raises(CaseError) as caught:
        build(**changes)
    [problem] = caught.value.problems
    assert problem.key == key and allowed in problem.allowed
