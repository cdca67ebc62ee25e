"""Poisson cases: what they say, what is refused, nodes, sides and shares."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checked import quantities_of, warnings_of
from dense_spectral_elements import shuffled

from groundswell import registry
from groundswell.case import read_case
from groundswell.errors import CaseError, InputError
from groundswell.meshes.box import Box
from groundswell.meshes.hexahedra import Hexahedra
from groundswell.solvers.poisson.case import PoissonCase
from groundswell.solvers.poisson.setup import prepare
from groundswell.spectral_elements.boundary import TaggedFaces
from groundswell.spectral_elements.partition import ElementPartition

ROOT = Path(__file__).parents[4]
FIXED = {"west": {"kind": "fixed"}}
BOX = {"kind": "box", "counts": [2, 3, 1]}


def case(**changes: Any) -> PoissonCase:
    return PoissonCase(**({"mesh": BOX, "boundaries": FIXED} | changes))


def bent(p: np.ndarray) -> np.ndarray:
    return p + 0.1 * p[..., ::-1] ** 2


# --- what cases say -------------------------------------------------------------------------------


def test_template_guide_and_check_define_the_tolerance_alike() -> None:
    """As the solver does: see `test_a_good_start_saves_iterations`."""
    guide = (ROOT / "docs" / "poisson.md").read_text()
    template = registry.find("poisson").read_template()
    assert "residual, relative to that of u = 0 in the interior" in guide
    assert "residual, relative to that of u = 0 in the interior" in template
    quantities = {q.key: q.text for q in quantities_of(prepare(read_case(template)))}
    assert "1e-10 times that of u = 0 in the interior" in quantities["iterations"]


def test_the_template_is_a_case() -> None:
    made = read_case(registry.find("poisson").read_template())
    assert isinstance(made, PoissonCase) and made.tolerance == 1e-10
    setup = prepare(made)
    assert setup.mesh.count == 48 and setup.unknowns == 29 * 29 * 22


def test_defaults_follow_the_precision() -> None:
    assert case().tolerance == 1e-10
    assert case(run={"precision": "single"}).tolerance == 1e-5
    assert case(run={"precision": "single"}, method={"tolerance": 1e-3}).tolerance == 1e-3


def test_what_single_precision_cannot_tell() -> None:
    single = case(run={"precision": "single"}, method={"tolerance": 1e-9})
    assert "1e-09 is below the accuracy of single" in warnings_of(prepare(single))[0]
    assert not warnings_of(prepare(case(run={"precision": "single"})))


@pytest.mark.parametrize(
    ("changes", "high"),
    [
        ({}, (1.0, 1.0, 1.0)),
        ({"low": [0, "-5 cm", 0], "high": [2, "1 km", 0.5]}, (2.0, 1000.0, 0.5)),
        ({"low": [1, 2, 3], "size": [1, "50 cm", 2]}, (2.0, 2.5, 5.0)),
    ],
)
def test_boxes(changes: Any, high: Any) -> None:
    mesh = prepare(case(mesh=BOX | changes)).mesh
    assert isinstance(mesh, Box) and mesh.high == pytest.approx(high)


def test_sides_have_the_tags_of_a_box() -> None:
    made = case(mesh=BOX | {"periodic": ["y"]}, boundaries={"top": {"kind": "fixed", "value": 3}})
    setup = prepare(made)
    assert setup.sides == {"west": 1, "east": 2, "bottom": 5, "top": 6}
    assert [*setup.equation.fixed] == [6] and setup.equation.fluxes == {}
    assert setup.mesh.periodic == (False, True, False)  # type: ignore[attr-defined]
    assert (setup.equation.fixed[6](*np.zeros((3, 2))) == 3).all()


def test_what_check_tells() -> None:
    setup = prepare(case(equation={"screening": "2 1/m^2"}))
    texts = {q.label: str(q) for q in quantities_of(setup) if q.label}
    assert texts["elements"] == "6 of polynomial degree 7" and texts["preconditioner"] == "jacobi"
    assert texts["screening"] == "2 per m^2"
    sides = "fixed on west; no flux on east, south, north, bottom, top"
    assert texts["boundary conditions"] == sides


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"boundaries": {}}, "equation.screening: must be above 0 where no side is fixed or robin"),
        ({"boundaries": {"wets": {"kind": "fixed"}}}, r'boundaries.wets.*did you mean "west"'),
        (
            {"boundaries": {"west": {"kind": "fixd"}}},
            r"must be fixed, flux or robin \(did you mean",
        ),
        ({"boundaries": {"west": {"kind": "robin"}}}, "boundaries.west.h: is required"),
        ({"boundaries": {"west": {"kind": "robin", "h": -1}}}, "west.h = -1: must be at least 0"),
        (
            {"boundaries": {"west": {"kind": "robin", "h": 1, "value": 2}}},
            "west.value = 2: is not a key here; keys are: kind, h, ambient",
        ),
        ({"boundaries": {"west": {"kind": "robin", "h": 0}}}, "screening: must be above 0 where"),
        ({"equation": {"conductivity": 0}}, "equation.conductivity = 0: must be above 0, or the"),
        ({"equation": {"conductivity": -2.5}}, "conductivity = -2.5: must be above 0, or the six"),
        ({"equation": {"conductivity": float("nan")}}, "conductivity = nan: is not a finite"),
        ({"equation": {"conductivity": [1, 2, 3]}}, "must be above 0, or the six entries xx, xy"),
        ({"equation": {"conductivity": "k"}}, 'conductivity = "k": has the unknown name "k"'),
        (
            {"equation": {"conductivity": "50 W/(m K)"}},
            "has a unit, but numbers have none here; wri",
        ),
        ({"equation": {"source": "1 MW/m^3"}}, "source = .*: has a unit, but numbers have none"),
        ({"equation": {"screening": "-4 1/m^2"}}, 'screening = "-4 1/m.2": must be at least 0'),
        ({"equation": {"screening": "4 m"}}, 'screening = "4 m": is not a screening'),
        ({"material": {"steel": {"conductivity": 15}}}, "material: is for the named volumes of"),
        ({"boundaries": {"west": 3}}, "boundaries.west = 3: must be a table"),
        ({"boundaries": 3}, "boundaries = 3: must be a table"),
        (
            {"boundaries": {"west": {"kind": "fixed", "value": "x^2"}}},
            r'boundaries.west.value = "x\^2": may contain only numbers',
        ),
        ({"equation": {"source": "sin(s)"}}, 'equation.source .* unknown name "s".*; names are: x'),
        ({"equation": {"source": [1]}}, "give an expression such as .*, or a number"),
        ({"equation": {"screening": -1}}, "equation.screening = -1: must be at least 0"),
        ({"mesh": BOX | {"counts": [0, 1, 1]}}, "must be at least 1"),
        ({"mesh": BOX | {"high": [1, 1, 1], "size": [1, 1, 1]}}, "give only one of high and size"),
        ({"mesh": BOX | {"high": [1, 0, 1]}}, "must leave each axis a length"),
        ({"mesh": BOX | {"low": [0, 0, 1]}}, "must leave each axis a length"),
        ({"mesh": BOX | {"periodic": ["y", "y"]}}, "is in the list already"),
        ({"mesh": BOX | {"periodic": ["x"]}}, "boundaries.west: is not a side of the mesh"),
        (
            {"mesh": BOX | {"size": [1, 1, 2], "kershaw": {"eps_y": 1, "eps_z": 1}}},
            "is for the unit cube",
        ),
        (
            {"mesh": BOX | {"periodic": ["y"], "kershaw": {"eps_y": 1, "eps_z": 1}}},
            "cannot be periodic",
        ),
        (
            {"mesh": BOX | {"kershaw": {"eps_y": 0, "eps_z": 1}}},
            "eps_y = 0: must be greater than 0",
        ),
        ({"mesh": {"kind": "gmsh", "file": "no.msh"}}, "mesh.file .* does not exist"),
        ({"method": {"degree": 16}}, "method.degree = 16: must be at most 15"),
        ({"method": {"preconditioner": "ilu"}}, 'must be "none", "jacobi" or "multigrid"'),
        ({"run": {"codec": "mpc"}}, "run.codec .* is not for this solver"),
        ({"run": {"codec": "zip"}}, 'run.codec = "zip": is not for this solver; leave it out$'),
        ({"run": {"lossy": "zip"}}, 'run.lossy = "zip": is not for this solver; leave it out$'),
        (
            {"run": {"codecs": "mpc"}},
            "keys are: backend, precision, checkpoint, processes, transport, route$",
        ),
    ],
)
def test_what_is_refused(changes: Any, said: str) -> None:
    with pytest.raises(CaseError, match=said):
        case(**changes)


def test_a_file_without_the_side(tmp_path: Path) -> None:
    source = ROOT / "examples" / "poisson" / "cylinder.msh"
    named = {"roof": {"kind": "fixed"}}
    made = case(mesh={"kind": "gmsh", "file": str(source)}, boundaries=named)
    said = "boundaries.roof: is not a side of the mesh.*; its sides are wall, bottom or top"
    with pytest.raises(CaseError, match=said):
        prepare(made)


# --- nodes, sides, shares -------------------------------------------------------------------------

MESHES: list[Hexahedra] = [
    Box((2, 3, 1)),
    Box((2, 1, 3), periodic=(True, True, False)),
    shuffled(Box((3, 2, 2), deform=bent, order=2), np.random.default_rng(4)),
]


@pytest.mark.parametrize("mesh", MESHES, ids=["box", "periodic", "mesh"])
@pytest.mark.parametrize("degree", [1, 2, 5])
def test_nodes_are_counted(mesh: Hexahedra, degree: int) -> None:
    assert mesh.count_nodes(degree) == len(np.unique(mesh.ids(degree, np.arange(mesh.count))))


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("end", [0, 1])
def test_fluxes_are_integrals_over_sides(axis: int, end: int) -> None:
    """Of a polynomial over a side of a box, and the area of a curved one from a fine sum."""
    tag = 2 * axis + end + 1
    box = Box((2, 3, 2), (0, 0, 0), (2.0, 3.0, 4.0))
    faces = TaggedFaces.of(box, 4, np.arange(12), [tag])
    loads = faces.integrate({tag: lambda x, y, z: 1 + x * y * z}, str)
    sides = [length for n, length in enumerate((2.0, 3.0, 4.0)) if n != axis]
    far = end * (2.0, 3.0, 4.0)[axis]
    assert loads.sum() == pytest.approx(np.prod(sides) + far * np.prod(np.square(sides)) / 4)
    np.testing.assert_array_equal(
        faces.outside, np.flatnonzero(box.tags(np.arange(12))[:, tag - 1] == tag)
    )
    assert not loads[~faces.on_faces([tag])].any()


def test_the_area_of_a_curved_side() -> None:
    """Of the side x = 1 of a bent cube, a graph over it whose area a fine sum gives."""
    mesh = Box((1, 2, 2), deform=bent, order=6)
    faces = TaggedFaces.of(mesh, 10, np.arange(4), [2])
    loads = faces.integrate({2: lambda x, y, z: np.ones_like(x)}, str)
    n = 800
    s = (np.arange(n) + 0.5) / n
    y, z = np.meshgrid(s, s)
    at_y = np.stack([0 * y, 1 + 0.2 * y, 0 * y], -1)  # derivatives of bent((1, y, z))
    at_z = np.stack([0.2 * z, 0 * z, np.ones_like(z)], -1)
    area = np.linalg.norm(np.cross(at_y, at_z), axis=-1).mean()
    assert loads.sum() == pytest.approx(area, rel=1e-6)


def test_fluxes_that_are_not_finite() -> None:
    with pytest.raises(InputError, match=r"the flux of side 1 is inf at \(0, 0, 0\); give"):
        faces = TaggedFaces.of(Box((1, 1, 1)), 2, [0], [1])
        faces.integrate({1: lambda x, y, z: 1 / (y + z)}, "the flux of side {}".format)


@pytest.mark.parametrize("mesh", MESHES, ids=["box", "periodic", "mesh"])
@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_ranks_share_the_elements(mesh: Hexahedra, ranks: int) -> None:
    """All of them, once; faces between two ranks are counted as they lie in the mesh."""
    partition = ElementPartition.of(mesh, ranks)
    together = np.concatenate([partition.elements(rank) for rank in range(ranks)])
    assert sorted(together) == list(range(mesh.count))
    ids = mesh.ids(2, np.arange(mesh.count))[:, [4, 10, 12, 14, 16, 22]]  # middles of faces
    expected = np.zeros((ranks, ranks), int)
    for a in range(mesh.count):
        for b in range(a):
            first, second = partition.part[[a, b]]
            common = len(np.intersect1d(ids[a], ids[b]))
            expected[first, second] += 9 * common * (first != second)
            expected[second, first] += 9 * common * (first != second)
    assert (partition.shared_nodes(2) == expected).all()


def test_more_ranks_than_elements() -> None:
    with pytest.raises(InputError, match="12 elements for 13 ranks; use fewer ranks"):
        ElementPartition.of(MESHES[2], 13)
    with pytest.raises(InputError, match="24 elements for 25 ranks; use fewer ranks"):
        ElementPartition.of(Box((2, 3, 4)), 25)


@pytest.mark.parametrize("ranks", [5, 7, 11])
def test_boxes_that_no_blocks_fit_are_shared_all_the_same(ranks: int) -> None:
    partition = ElementPartition.of(Box((2, 3, 4)), ranks)
    assert partition.processes == (ranks,) and np.ptp(partition.counts) <= 1
    told = rf"processes = \[{ranks}, 1, 1\] for {ranks} ranks and \[2, 3, 4\] elements; give"
    with pytest.raises(InputError, match=told):
        ElementPartition.of(Box((2, 3, 4)), ranks, (ranks, 1, 1))
