"""Poisson problems from Python, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checked import quantities_of
from dense_spectral_elements import at_nodes, space_on
from gmsh_files import cells_of, numbered, save

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
from groundswell.solvers.poisson.solver import Poisson

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


def test_materials_of_a_mesh(tmp_path: Path) -> None:
    """Layers by named volume, in a case and from Python, against the heat that passes them."""
    path = layered_file(tmp_path)
    sides = {"west": {"kind": "fixed", "value": 1.0}, "east": {"kind": "robin", "h": 4.0}}
    groups = gs.poisson.read_mesh_groups(path)
    k = groups.by_volume({"steel": 50.0, "cork": 0.05})
    given = {"degree": 2, "boundaries": sides, "sides": groups.sides}
    found = gs.poisson.solve(groups.mesh, conductivity=k, preconditioner="multigrid", **given)
    heat = 1 / (0.5 / 50 + 0.5 / 0.05 + 1 / 4)
    x = found.positions[..., 0]
    wanted = 1 - heat * np.where(x <= 0.5, x / 50, 0.5 / 50 + (x - 0.5) / 0.05)
    assert np.abs(found.values - wanted).max() < 1e-9
    content = {"mesh": {"kind": "gmsh", "file": str(path)}, "boundaries": sides}
    materials = {"steel": {"conductivity": 50}, "cork": {"conductivity": "0.1 / 2"}}
    setup = prepare(PoissonCase(**content, material=materials, method={"degree": 2}))
    solver = Poisson(setup, open_backend("cpu"))
    solver.solve()
    assert np.abs(solver.values - wanted).max() < 1e-6
    assert repr(groups).startswith("MeshGroups(Mesh(") and "volumes: " in repr(groups)
    assert len(repr(groups)) < 200
    with pytest.raises(InputError, match=r"give groups\.mesh, and sides=groups\.sides"):
        gs.poisson.solve(groups)
    for name in ("conductivity", "screening", "source"):
        with pytest.raises(InputError, match=f"{name} is a table; for values by volume, give grou"):
            gs.poisson.solve(Box((1, 1, 1)), boundaries=FIXED, **{name: {"steel": 1.0}})
    with pytest.raises(InputError, match="pass on the sides that read_mesh returns"):
        gs.poisson.solve(groups.mesh, boundaries={"top": {"kind": "fixed"}})
    with pytest.raises(InputError, match="by_volume lacks the volume cork"):
        groups.by_volume({"steel": 1.0})
    for wrong, said in (
        ({"steel": {}}, "material: lacks the volume cork of the mesh; add it"),
        (materials | {"stel": {}}, 'material.stel: is not a .* mesh .did you mean "steel"'),
    ):
        with pytest.raises(CaseError, match=said):
            prepare(PoissonCase(**content, material=wrong))


def layered_file(folder: Path) -> Path:
    """The unit cube: steel for x < 0.5, cork beyond, with the sides west and east."""
    box = Box((4, 1, 1))
    points, numbers = numbered(box)
    tags = np.where(box.tags(np.arange(4)) <= 2, box.tags(np.arange(4)), 0)
    names = {"west": (1, 2), "east": (2, 2), "steel": (1, 3), "cork": (2, 3)}
    return save(folder / "a.msh", points, cells_of(numbers, tags, np.array([1, 1, 2, 2])), names)


def test_elements_of_no_material(tmp_path: Path) -> None:
    box = Box((2, 1, 1))
    points, numbers = numbered(box)
    cells = cells_of(numbers, box.tags(np.arange(2)), np.array([1, 0]))
    path = save(tmp_path / "a.msh", points, cells, {"steel": (1, 3)})
    case = PoissonCase(
        mesh={"kind": "gmsh", "file": str(path)},
        material={"steel": {}},
        boundaries={"1": {"kind": "fixed"}},
    )
    with pytest.raises(CaseError, match="by volume, but 1 element in none; put each"):
        prepare(case)


def test_ambient_values_may_change_between_solutions() -> None:
    """Of a rod in 1-D: u falls from 1 to where the air takes the heat over."""
    sides = {"west": {"kind": "fixed", "value": 1.0}, "east": {"kind": "robin", "h": 3.0}}
    with gs.poisson.Problem(Box((2, 1, 1)), 3, sides, conductivity=2.0) as problem:
        for ambient in (0.0, 5.0):
            found = problem.solve(values={"east": ambient})
            heat = (1 - ambient) / (1 / 2 + 1 / 3)
            wanted = 1 - heat * found.positions[..., 0] / 2
            assert np.abs(found.values - wanted).max() < 1e-9


def test_conductivities_of_any_form_agree() -> None:
    mesh, x = Box((2, 2, 2)), gs.poisson.nodes(Box((2, 2, 2)), 3)[..., 0]
    k = lambda x, y, z: 1 + x  # noqa: E731
    forms = ["1 + x", k, 1 + x, [k, 0, "0", 1 + x, 0.0, k]]
    found = [
        gs.poisson.solve(mesh, 3, 1.0, FIXED, conductivity=form, tolerance=1e-13).values
        for form in forms
    ]
    assert all(np.allclose(each, found[0], rtol=0, atol=1e-12) for each in found)


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
        ({"screening": "x - 0.25"}, r"the screening is -0.25 at \(0, 0, 0\); give 0 or more"),
        ({"screening": np.full(8, np.inf)}, r"the screening is inf at \(0, 0, 0\); give finite"),
        ({"screening": np.zeros(7)}, r"screening has shape \(7,\); values at nodes have shape"),
        ({"conductivity": 0}, "conductivity = 0: must be above 0, or the six entries"),
        ({"conductivity": np.float64(-1)}, "conductivity = -1.0: must be above 0, or the six"),
        ({"conductivity": np.nan}, "conductivity = nan: is not a finite number"),
        ({"conductivity": "x"}, r"the conductivity is 0 at \(0, 0, 0\); give values above 0"),
        ({"conductivity": lambda x, y, z: np.log(x - 2)}, "the conductivity is nan at .*; give a"),
        ({"conductivity": np.arange(8.0)}, r"the conductivity is 0 at \(0, 0, 0\); give values"),
        ({"conductivity": np.ones((8, 26))}, r"has shape \(8, 26\); values at nodes .* \(8, 27\)"),
        ({"conductivity": np.full(8, "a")}, "the conductivity is .* give a real number for each"),
        ({"conductivity": [1, 0, 0, 1, 0]}, "must be above 0, or the six entries xx, xy"),
        ({"conductivity": [abs] * 5}, "conductivity has 5 entries; a symmetric tensor has six: xx"),
        ({"conductivity": [1, 2, 0, 1, 0, 1]}, "the conductivity is not positive definite, with 1"),
        ({"conductivity": ["y"] * 6}, r"positive definite, with 0 as its entry xx at \(0, 0, 0\)"),
        ({"boundaries": {"west": {"kind": "robin"}}}, 'kind = "robin", h and ambient'),
        (
            {"boundaries": {"east": {"kind": "robin", "h": "-y"}}},
            r"h of side east is -0.25 at \(1, 0.25, 0\); give 0 or more",
        ),
        ({"boundaries": {"west": {"kind": "robin", "h": np.nan}}}, "h of side west is nan at"),
        ({"boundaries": {"west": {"kind": "robin", "h": 0}}}, "u is determined only up to a"),
        (
            {"boundaries": {"west": {"kind": "robin", "h": 1, "ambient": "1 / y"}}},
            "h times the ambient value of side west is inf at",
        ),
        ({"source": lambda x, y: x}, "the source cannot be evaluated: the function raised TypeEr"),
        ({"source": None}, "source = None; give a function of x, y and z, an expression or a"),
        ({"screening": lambda x, y, z: x[9, 9]}, "the screening cannot be .* raised IndexError"),
        (
            {"screening": 1, "boundaries": {"top": {"kind": "flux", "value": lambda *at: 1 / 0}}},
            "the flux of side top cannot be evaluated: the function raised ZeroDivisionError: div",
        ),
        (
            {"boundaries": {"west": {"kind": "fixed", "value": lambda *at: at["x"]}}},
            "the value of side west cannot be .* TypeError: tuple indices must be integers",
        ),
        (
            {"mesh": Box((2, 2, 2), deform=lambda p: p[..., 3], order=1)},
            "the deformation of a box cannot be evaluated: the function raised IndexError: index 3",
        ),
        (
            {"mesh": Box((2, 2, 2), deform=lambda p: p[..., :2], order=1)},
            r"the deformation of a box gives float64 of shape \(8, 8, 2\); it must return",
        ),
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
    with pytest.raises(CaseError, match="medium: is not a key here") as caught:
        case(medium={"kind": "rock"})
    offered = caught.value.problems[0].allowed.partition("keys are: ")[2].split(", ")
    assert "grid" not in offered
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
