"""Poisson problems from Python, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checked import quantities_of
from dense_spectral_elements import at_nodes, space_on

import groundswell as gs
from groundswell.backends import open_backend
from groundswell.case import load_case
from groundswell.errors import CaseError, InputError
from groundswell.meshes.box import Box, kershaw
from groundswell.meshes.gll import gll
from groundswell.meshes.hexahedra import positions
from groundswell.meshes.mesh import Mesh
from groundswell.solvers.poisson.boundary_value_problem import BoundaryValueProblem
from groundswell.solvers.poisson.case import MethodSection, PoissonCase
from groundswell.solvers.poisson.equation import Equation
from groundswell.solvers.poisson.setup import prepare

ROOT = Path(__file__).parents[4]
FIXED = {"west": {"kind": "fixed"}}
BOX = {"kind": "box", "counts": [2, 3, 1]}


def case(**changes: Any) -> PoissonCase:
    return PoissonCase(**({"mesh": BOX, "boundaries": FIXED} | changes))


def test_arrays_functions_and_texts_are_the_same() -> None:
    box = gs.poisson.Box((2, 2, 2), deform=kershaw(0.8, 0.8), order=1)
    at = gs.poisson.nodes(box, 3)
    sides = {"east": {"kind": "fixed", "value": "y"}, "top": {"kind": "flux", "value": 0.5}}
    sources = ["x * y", lambda x, y, z: x * y, at[..., 0] * at[..., 1]]
    found = [gs.poisson.solve(box, 3, source, sides) for source in sources]
    assert all((other.values == found[0].values).all() for other in found[1:])
    assert found[0].converged and found[0].iterations == len(found[0].residuals) - 1
    assert repr(found[0]) == f"Solution(8 elements, {found[0].iterations} iterations, converged)"
    assert (found[0].positions == positions(box, 3, np.arange(8))).all()


def test_errors_are_told_between_nodes() -> None:
    """Where they are larger: of a function that the mesh's nodes hold, what is in between."""
    degree, backend = 3, open_backend("cpu")
    space = space_on(Box((2, 1, 1)), degree)
    problem = BoundaryValueProblem(backend, space, Equation(screening=1.0), MethodSection())
    exact = lambda x, y, z: np.sin(9 * x)  # noqa: E731
    largest, norm = problem.measure_errors(at_nodes(exact, space), exact)
    problem.close()
    x = np.linspace(0, 1, 2001)
    at = (gll(degree).points + 1) / 4
    halves = [np.polynomial.Polynomial.fit(p, np.sin(9 * p), degree) for p in (at, at + 0.5)]
    error = np.where(x < 0.5, halves[0](x), halves[1](x)) - np.sin(9 * x)
    assert largest == pytest.approx(np.abs(error).max(), rel=0.1)
    assert norm == pytest.approx(np.sqrt(np.mean(error**2)), rel=1e-2)


def test_bodies_that_nothing_holds() -> None:
    """Of two cubes apart u is fixed on one; of two that meet at an edge, on both."""
    cube, hexahedron = np.arange(8), positions(Box((1, 1, 1)), 1, [0])[0]
    at_edge = np.array([5, 9, 7, 11, 12, 13, 14, 15])
    west = np.sort(cube[[0, 2, 4, 6]])[None]
    for corners, shift, held in ((cube + 8, [2, 0, 0], False), (at_edge, [1, 0, 1], True)):
        nodes = np.stack([hexahedron, hexahedron + shift])
        mesh = Mesh(np.stack([cube, corners]), nodes, sides=west, side_tags=np.array([7]))
        given = {"boundaries": FIXED, "sides": {"west": 7}, "source": 1.0, "degree": 3}
        if held:
            assert gs.poisson.solve(mesh, **given).converged
            continue
        with pytest.raises(InputError, match="a constant in 1 element, the first is 1; give a"):
            gs.poisson.solve(mesh, **given)


def test_a_mesh_with_names() -> None:
    mesh, sides = gs.poisson.read_mesh(ROOT / "examples" / "poisson" / "cylinder.msh")
    wall = {"wall": {"kind": "fixed", "value": lambda x, y, z: 1 - x**2 - y**2}}
    found = gs.poisson.solve(mesh, 4, 4.0, wall, sides=sides)
    x, y, _ = np.moveaxis(found.positions, -1, 0)
    assert np.abs(found.values - (1 - x**2 - y**2)).max() < 1e-9  # a polynomial of the mesh's r, s


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"boundaries": {"wets": {"kind": "fixed"}}}, "'wets' is not a side of the mesh"),
        ({"boundaries": {"west": {"kind": "open"}}}, 'west: give a table with kind = "fixed" or'),
        ({"boundaries": {"west": {"kind": "fixed", "u": 1}}}, "west: give a table"),
        ({"boundaries": {}}, "u is determined only up to a constant"),
        (
            {"source": np.zeros((2, 27))},
            r"source has shape \(2, 27\); values at nodes have shape",
        ),
        ({"source": "sin(q)"}, 'source = .* has the unknown name "q"'),
        ({"source": lambda x, y, z: 1 / x}, r"the source is inf at \(0, 0, 0\)"),
        ({"preconditioner": "ilu"}, 'preconditioner = "ilu": must be "none"'),
        ({"precision": "half"}, 'precision = "half": must be "single" or "double"'),
        ({"source": lambda x, y, z: 1j * x}, "the source is .* give a real number"),
        ({"source": np.full((8, 27), 1j)}, "the source is .* give a real number"),
        ({"source": lambda x, y, z: x[:2]}, r"the source has shape \(2, 27\); give a real number"),
        ({"screening": -1.0}, "screening = -1.0: must be at least 0"),
        ({"screening": np.nan}, "screening = nan: is not a finite number"),
        ({"screening": "1 m"}, 'screening = "1 m": '),
        ({"degree": 0}, "degree = 0: must be at least 1"),
        ({"degree": 16}, "degree = 16: must be at most 15"),
        ({"degree": "7"}, 'degree = "7": must be a whole number'),
        ({"degree": True}, "degree = true: must be a whole number"),
        ({"iterations": 0}, "iterations = 0: must be at least 1"),
        ({"iterations": 1.5}, "iterations = 1.5: must be a whole number"),
        ({"tolerance": 2.0}, "tolerance = 2.0: must be less than 1"),
        ({"tolerance": 0}, "tolerance = 0: must be greater than 0"),
        ({"mesh": "part.msh"}, "mesh = 'part.msh'; give a Box, or the Mesh that read_mesh returns"),
        ({"boundaries": {"west": 0.0}}, "west: give a table with kind"),
        ({"boundaries": ["west"]}, r"boundaries = \['west'\]; give tables by the names of sides"),
        (
            {"boundaries": FIXED, "sides": {"west": 99}},
            "sides: west = 99, which is not the tag",
        ),
    ],
)
def test_what_solve_refuses(changes: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        gs.poisson.solve(**({"mesh": Box((2, 2, 2)), "degree": 2, "boundaries": FIXED} | changes))


def test_keys_that_only_other_solvers_have_are_not_offered() -> None:
    with pytest.raises(CaseError, match="material: is not a key here") as caught:
        case(material={"kind": "rock"})
    offered = caught.value.problems[0].allowed.partition("keys are: ")[2].split(", ")
    assert "time" not in offered
    assert {"mesh", "equation", "boundaries"} < set(offered)


def test_sides_whose_names_are_numbers_are_quoted() -> None:
    setup = replace(prepare(case()), sides={"1": 1, "west": 2})
    text = {q.key: q.text for q in quantities_of(setup)}["boundaries"]
    assert text == 'no flux on "1"; fixed on west'


def test_problems_of_a_mesh_are_those_of_the_case_file(tmp_path: Path) -> None:
    mesh = ROOT / "examples" / "poisson" / "cylinder.msh"
    path = tmp_path / "rod.toml"
    path.write_text(
        f'solver = "poisson"\nmesh = {{ kind = "gmsh", file = "{mesh}" }}\n'
        'boundaries = { lid = { kind = "fixed" } }\n'
    )
    with pytest.raises(CaseError, match=r"^rod\.toml cannot be used:\n  boundaries\.lid: is not a"):
        prepare(load_case(path))
