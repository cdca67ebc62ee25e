"""Elements of ranks, and the tables that kernels of DG waves read."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from dg_problems import Problem, Variant, halve
from hypothesis import given
from hypothesis import strategies as st

from groundswell.meshes.octree import uniform_forest
from groundswell.meshes.octree_faces import FaceKind, find_faces
from groundswell.seismology.media.material import Material
from groundswell.solvers.dgwave.equations import ACOUSTIC, ELASTIC, FaceSides
from groundswell.solvers.dgwave.kernel_shapes import (
    ALIGNMENT,
    HOST,
    MEASURED,
    KernelVariant,
    kernel_shape,
    pitch,
)
from groundswell.solvers.dgwave.mesh.elements import OUTSIDE, WHOLE, FaceLinks, RankElements
from groundswell.solvers.dgwave.terms import ElementSource, SourceHistory, Terms

# --- elements of ranks ----------------------------------------------------------------------------


@st.composite
def partitions(draw: Any) -> list[RankElements]:
    """The elements of all ranks: a random box, cut anywhere."""
    counts = draw(st.tuples(*[st.integers(1, 4)] * 3))
    periodic = draw(st.tuples(*[st.booleans()] * 3))
    bricks = uniform_forest([np.arange(n + 1.0) ** 1.2 for n in counts], 0, periodic)
    halved = draw(st.lists(st.booleans(), min_size=bricks.count, max_size=bricks.count))
    forest = halve(bricks, np.array(halved)) if draw(st.booleans()) else bricks
    inner = (
        st.sets(st.integers(1, forest.count - 1), max_size=7) if forest.count > 1 else st.just(())
    )
    starts = np.array([0, *sorted(draw(inner)), forest.count])
    leaves = st.sets(st.integers(0, forest.count - 1))
    absorbing = np.array(sorted(draw(leaves)), np.int64)
    return [RankElements(forest, starts, rank, absorbing) for rank in range(len(starts) - 1)]


def remote(elements: RankElements) -> FaceLinks:
    """The links to other ranks."""
    low, high = elements.starts[elements.rank], elements.starts[elements.rank + 1]
    beyond = elements.links.beyond
    return elements.links.take((beyond < low) | (beyond >= high))


def rows(elements: RankElements, links: FaceLinks) -> list[tuple[int, ...]]:
    """Links as rows: the leaf, its face and quarter, and the same of the other side."""
    leaf = elements.numbers[links.element]
    columns = (leaf, links.face, links.quarter, links.beyond, links.face ^ 1, links.quarter_beyond)
    return [tuple(map(int, row)) for row in zip(*columns, strict=True)]


@given(partitions())
def test_every_leaf_belongs_to_one_rank(ranks: list[RankElements]) -> None:
    numbers = np.concatenate([elements.numbers for elements in ranks])
    assert sorted(numbers) == list(range(ranks[0].forest.count))
    for elements in ranks:
        assert len(elements.numbers) == elements.count
        low, high = elements.starts[elements.rank], elements.starts[elements.rank + 1]
        assert (elements.numbers >= low).all() and (elements.numbers < high).all()


@given(partitions())
def test_links_are_the_faces_of_the_forest(ranks: list[RankElements]) -> None:
    """From either side; a coarse face has four, and each face that is no boundary has one."""
    everything = [row for elements in ranks for row in rows(elements, elements.links)]
    assert sorted(everything) == sorted((*row[3:], *row[:3]) for row in everything)
    found = find_faces(ranks[0].forest)
    wanted = [
        (leaf, face, quarter if found.kinds[leaf, face] == FaceKind.FINER else WHOLE, int(beyond))
        for (leaf, face, quarter), beyond in np.ndenumerate(found.neighbours)
        if beyond != OUTSIDE
    ]
    assert sorted(row[:4] for row in everything) == sorted(wanted)


@given(partitions())
def test_the_first_elements_share_faces_with_other_ranks(ranks: list[RankElements]) -> None:
    """Absorbing elements lie next to one another; each kind is in the order of its leaves."""
    for elements in ranks:
        outer = np.unique(remote(elements).element)
        assert outer.tolist() == list(range(elements.outer))
        absorbs = np.isin(elements.numbers, elements.absorbing)
        assert (np.diff(np.flatnonzero(absorbs)) == 1).all()
        is_outer = np.arange(elements.count) < elements.outer
        for kind in product((True, False), repeat=2):
            leaves = elements.numbers[(is_outer == kind[0]) & (absorbs == kind[1])]
            assert (np.diff(leaves) > 0).all()
        assert (np.diff(elements.mortars[:, 0]) >= 0).all()


@given(partitions())
def test_both_ranks_know_the_faces_between_them(ranks: list[RankElements]) -> None:
    """The sender's traces, in their order, are those that the receiver expects."""
    for elements in ranks:
        assert elements.rank not in elements.shared
        for peer, faces in elements.shared.items():
            sent = rows(elements, faces.sends)
            expected = rows(ranks[peer], ranks[peer].shared[elements.rank].receives)
            assert sent == [(*row[3:], *row[:3]) for row in expected]
            assert len({row[:3] for row in sent}) == len(sent)


@given(partitions())
def test_every_remote_face_is_sent_and_received_once(ranks: list[RankElements]) -> None:
    for elements in ranks:
        wanted = sorted(rows(elements, remote(elements)))
        for kind in ("sends", "receives"):
            shared = [rows(elements, getattr(s, kind)) for s in elements.shared.values()]
            assert sorted(row for part in shared for row in part) == wanted


def test_edges_are_those_of_the_boxes() -> None:
    problem = Problem(Variant(1, seed=3))
    elements = problem.discretisation("float64").elements
    assert np.allclose(elements.edges, problem.scheme.bricks.sizes[elements.numbers], rtol=1e-14)


# --- tables of the equations ----------------------------------------------------------------------


def sides_of(beyond: Material, upwind: float = 1.0) -> FaceSides:
    """Faces of two elements, whose first ones are boundaries."""
    boundary = np.zeros((2, 6), bool)
    boundary[:, 0] = True
    return FaceSides(beyond, boundary, np.full((2, 6), -1.0), upwind)


def materials(vs: float) -> tuple[Material, Material]:
    """Those of two elements and of what is beyond their faces."""
    own = Material(np.array([2.0, 3.0]), np.array([1.0, vs]), np.array([1.0, 2.0]))
    other = Material(np.full((2, 6), 5.0), np.full((2, 6), vs), np.full((2, 6), 0.5))
    return own, other


def test_acoustic_tables() -> None:
    own, other = materials(0.0)
    assert ACOUSTIC.jump(whole=False) == 1 and ACOUSTIC.jump(whole=True) == 2
    rows = ACOUSTIC.materials(own, np.array([[1.0, 2.0, 4.0], [0.5, 1.0, 1.0]]))
    assert rows.tolist() == [[4, 1, 2, 2, 1, 0.5], [18, 0.5, 6, 4, 2, 2]]
    faces = ACOUSTIC.faces(own, sides_of(other, 0.25))
    assert faces.shape == (2, 6, 4)
    assert np.allclose(faces[:, :, 0], [[1 / 4.5] * 6, [1 / 8.5] * 6])
    assert np.allclose(faces[:, :, 1], [[2.5 / 4.5] * 6, [2.5 / 8.5] * 6])
    assert (faces[:, :, 2] == -1).all() and (faces[:, :, 3] == 0.25).all()
    absorbing = replace(sides_of(other, 0.25), reflection=np.zeros((2, 6)))
    found = ACOUSTIC.faces(own, absorbing)[:, :, 3].tolist()
    assert found == [[1.0, *[0.25] * 5]] * 2  # the boundary has the Riemann flux


def test_elastic_tables() -> None:
    own, other = materials(0.0)
    assert ELASTIC.jump(whole=False) == 3 and ELASTIC.jump(whole=True) == 6
    rows = ELASTIC.materials(own, np.full((2, 3), 2.0))
    assert rows.tolist() == [[2, 1, 1, 2, 1, 1, 1, 1], [18, 0, 0.5, 6, 0, 1, 1, 1]]
    faces = ELASTIC.faces(own, sides_of(other))
    assert faces.shape == (2, 6, 6) and np.isfinite(faces).all()
    assert np.allclose(faces[0, 1], [1 / 4.5, 2.5 / 4.5, 1, 0, -1, 1])  # a solid beside a fluid
    assert np.allclose(faces[1, 1, 2:4], 0)  # two fluids, which slip


def test_tables_fit_the_structures_of_the_kernels() -> None:
    """Two elements of one material between equals: shares of one half."""
    for equations, weights in ((ACOUSTIC, 1), (ELASTIC, 2)):
        own, other = materials(1.0)
        same = Material(*(np.repeat(a[:, None], 6, 1) for a in own.given().values()))
        assert equations.materials(own, np.ones((2, 3))).shape[1] in (6, 8)
        faces = equations.faces(own, sides_of(same))
        assert np.allclose(faces[:, :, 1 : 2 * weights : 2], 0.5)
        assert len(equations.fields) == (9 if equations.elastic else 4)
        assert other.vp.shape == (2, 6)


# --- tables of sources and damping ----------------------------------------------------------------


def history(samples: list[float]) -> SourceHistory:
    return SourceHistory(np.ones(4), 0.5, 0.1, np.array(samples))


def test_sources_are_found_by_element() -> None:
    """Two parts of one source share its time function."""
    one, other = history([1, 2]), history([4, 5, 6])
    sources = [ElementSource(e, np.full(27, e), h) for e, h in ((1, one), (1, other), (3, one))]
    terms = Terms(2, 4, 5, sources)
    found = terms.tables("float32")
    first, loads, times = found["first_part"], found["loads"], found["times"]
    assert terms.has_sources and not terms.has_damping
    assert first.tolist() == [0, 0, 2, 2, 3, 3] and first.dtype == np.int64
    assert loads[:81:27].tolist() == [1, 1, 3] and loads.dtype == np.float32
    assert found["numbers"].tolist() == [0, 1, 0] and found["factors"].shape == (2, 4)
    assert times.tolist() == [[0.5, 0.1]] * 2 and times.dtype == np.float64
    assert found["first_samples"].tolist() == [0, 2, 5]
    assert found["samples"].tolist() == [1, 2, 4, 5, 6]
    assert all(table.size for table in found.values())


def test_tables_without_sources() -> None:
    damped = np.array([1, -1], np.int32)
    terms = Terms(2, 9, 2, (), damped, np.arange(54.0).reshape(2, 27))
    found = terms.tables("float64")
    assert terms.has_damping and not terms.has_sources
    assert found["first_part"].tolist() == [0, 0, 0]
    assert found["damped"] is damped and found["decay"].tolist()[:54] == list(range(54))
    assert all(table.size for table in found.values())


# --- shapes of blocks -----------------------------------------------------------------------------

H100 = 227 * 1024  # bytes of shared memory of a block


def device(shared: int) -> Any:
    return SimpleNamespace(on_host=False, shared_bytes_per_block=shared)


@pytest.mark.parametrize("size", [4, 8])
@pytest.mark.parametrize("equations", [ACOUSTIC, ELASTIC])
@pytest.mark.parametrize("degree", range(1, 16))
def test_blocks_fit_their_device(degree: int, equations: Any, size: int) -> None:
    """Also devices with less shared memory, where elements stay in global memory."""
    fields = len(equations.fields)
    static = (degree + 1) * ((degree + 1) | 1) * size + 16  # the derivative and two mbarriers
    given = (degree, fields, equations.jump(whole=True), size)
    variants = (
        KernelVariant(degree, fields, equations.jump(whole=False), size),
        KernelVariant(*given),
        KernelVariant(*given, is_nodal=True),
        KernelVariant(*given, equations.columns),
    )
    for variant, room in product(variants, (H100, 163 * 1024, 99 * 1024)):
        shape = kernel_shape(device(room), variant)
        assert shape.threads(degree) <= 1024 and 1 <= shape.layers <= degree + 1
        assert shape.threads(degree) * max(1, shape.blocks) <= 2048  # of a multiprocessor
        assert shape.shared_bytes(variant) + static <= room
        assert shape.in_shared or shape.elements == 1
        constants = shape.constants(degree)
        assert constants["MAX_THREADS_PER_BLOCK"] == shape.threads(degree)
        assert ("MIN_BLOCKS_PER_SM" in constants) == bool(shape.blocks)


def test_each_degree_was_measured() -> None:
    for shapes in MEASURED.values():
        assert list(shapes) == list(range(1, 16))
        assert all(len(row) == 4 for row in shapes.values())
    host: Any = SimpleNamespace(on_host=True)
    assert kernel_shape(host, KernelVariant(15, 9, 3, 8)) is HOST


@pytest.mark.parametrize("degree", range(1, 16))
def test_elements_are_whole_vectors(degree: int) -> None:
    for fields in (4, 9):
        values = fields * (degree + 1) ** 3
        assert values <= pitch(degree, fields) < values + ALIGNMENT
        assert pitch(degree, fields) % ALIGNMENT == 0
