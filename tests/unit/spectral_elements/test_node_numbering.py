"""Numbers of nodes that follow from those of entities, against the nodes' positions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from dense_spectral_elements import shuffled, space_on
from hypothesis import given, settings
from hypothesis import strategies as st
from thread_ranks import run_on_threads

from groundswell.arrays import Floats, Integers
from groundswell.backends import open_backend
from groundswell.backends.sliced_ellpack import WINDOW, SlicedEllpack, SparseRows
from groundswell.exchange.communicator import Communicator
from groundswell.exchange.gather_scatter.sharing import number_by_first_use
from groundswell.meshes.box import Box
from groundswell.meshes.hexahedra import Hexahedra, positions
from groundswell.meshes.separate import SeparateElements
from groundswell.spectral_elements.node_numbering import NodeNumbering
from groundswell.spectral_elements.rank_elements import NodeSharing
from groundswell.spectral_elements.space import FunctionSpace

SIZE = (1.0, 2.0, 3.0)
few = settings(max_examples=30)


@st.composite
def meshes(draw: st.DrawFn) -> Hexahedra:
    """Periodic or not, with elements in order or in any order and orientation."""
    counts = draw(st.tuples(*[st.integers(1, 4)] * 3))
    if draw(st.booleans()):
        return shuffled(Box(counts, high=SIZE), np.random.default_rng(draw(st.integers(0, 2**32))))
    return Box(counts, high=SIZE, periodic=draw(st.tuples(*[st.booleans()] * 3)))


degrees = st.integers(1, 7)


def places(mesh: Hexahedra, degree: int) -> Integers:
    """A number for each place at which nodes lie, (nodes,); both ends of a periodic axis are one.

    Of degree 1, both ends of a periodic axis with one element are one node, as `Box` has it.
    """
    where = positions(mesh, degree, np.arange(mesh.count)).reshape(-1, 3)
    if isinstance(mesh, Box):
        where = np.where(np.isclose(where, SIZE) & np.array(mesh.periodic), 0.0, where)
    _, place = np.unique(np.round(where, 9) + 0.0, axis=0, return_inverse=True)
    return place.ravel()


def copies_of(numbers: Integers) -> dict[int, list[int]]:
    """Ascending indices of the copies of each number."""
    found: dict[int, list[int]] = {}
    for index, number in enumerate(numbers.tolist()):
        found.setdefault(number, []).append(index)
    return found


def rows_of(rows: SparseRows) -> list[list[int]]:
    assert rows.offsets is not None
    return [part.tolist() for part in np.split(rows.all_indices, rows.offsets[1:-1])]


@few
@given(mesh=meshes(), degree=degrees)
def test_nodes_have_one_number_where_they_lie_in_one_place(mesh: Hexahedra, degree: int) -> None:
    sharing, place = space_on(mesh, degree).sharing, places(mesh, degree)
    pairs = np.unique(np.stack([sharing.indices, place], axis=1), axis=0)
    assert len(pairs) == len(sharing.ids) == place.max() + 1 == sharing.indices.max() + 1
    assert sharing.own == sharing.unshared == len(sharing.ids)
    ids = mesh.ids(degree, np.arange(mesh.count)).ravel()
    assert np.array_equal(sharing.ids[sharing.indices], ids)


@few
@given(mesh=meshes(), degree=degrees)
def test_copies_are_those_of_the_numbers(mesh: Hexahedra, degree: int) -> None:
    sharing = space_on(mesh, degree).sharing
    expected = copies_of(sharing.indices)
    assert rows_of(sharing.copies) == [expected[n] for n in range(len(sharing.ids))]


@few
@given(mesh=meshes(), degree=degrees)
def test_slices_are_those_of_the_copies(mesh: Hexahedra, degree: int) -> None:
    """Without rows of nodes: their entities suffice."""
    sharing = space_on(mesh, degree).sharing
    target = SparseRows.contiguous(0, len(sharing.ids))
    found = SlicedEllpack.of(sharing.unshared_copies, target, dtype=np.int32)
    expected = SlicedEllpack.of(sharing.copies, target)
    assert found.indices.dtype == np.int32
    assert np.array_equal(found.table, expected.table)
    assert np.array_equal(found.indices, expected.indices)


@few
@given(mesh=meshes(), degree=degrees, seed=st.integers(0, 2**32))
def test_values_of_the_first_copies(mesh: Hexahedra, degree: int, seed: int) -> None:
    """Files have the nodes in the order of their first use."""
    numbering, values = NodeNumbering.on(mesh, degree), np.random.default_rng(seed)
    of_elements = values.standard_normal((mesh.count, (degree + 1) ** 3, 2))

    def compute(some: slice) -> Floats:
        return np.asarray(of_elements[some])

    ids = mesh.ids(degree, np.arange(mesh.count)).ravel()
    numbers, firsts = number_by_first_use(ids)
    assert np.array_equal(numbering.number_by_use(), numbers)
    assert np.array_equal(numbering.collect(compute), of_elements.reshape(-1, 2)[firsts])


@few
@given(mesh=meshes(), degree=degrees, seed=st.integers(0, 2**32), share=st.floats(0, 1))
def test_copies_of_flagged_nodes(mesh: Hexahedra, degree: int, seed: int, share: float) -> None:
    space = space_on(mesh, degree)
    flags = np.random.default_rng(seed).random(space.size) < share
    assert np.array_equal(space.nodes_of(flags), np.flatnonzero(flags[space.sharing.indices]))


def test_elements_that_share_nothing() -> None:
    mesh = SeparateElements(Box((2, 1, 1)))
    sharing = space_on(mesh, 3).sharing
    assert len(sharing.ids) == 2 * 64 and sorted(sharing.indices.tolist()) == list(range(128))


@pytest.mark.parametrize("degree", [1, 3, 7])
def test_rows_of_one_size_follow_each_other(degree: int) -> None:
    """Within a window or so, which leaves few slices."""
    sharing = space_on(Box((16, 12, 8)), degree).sharing
    sizes = sharing.copies.sizes
    assert np.count_nonzero(np.diff(sizes) < 0) <= 1 + 2 * len(sizes) // WINDOW


def test_operators_share_indices_on_a_device() -> None:
    space, backend = space_on(Box((2, 1, 1)), 3), open_backend("cpu")
    dofs = space.dofs_on(backend)
    assert dofs is space.dofs_on(backend) is space.with_exchange(space.exchange).dofs_on(backend)
    assert np.array_equal(dofs, space.dofs.ravel()) and dofs.dtype == np.int32


# --- several ranks --------------------------------------------------------------------------------


@few
@given(mesh=meshes(), degree=degrees, seed=st.integers(0, 2**32), ranks=st.integers(1, 4))
def test_ranks_agree(mesh: Hexahedra, degree: int, seed: int, ranks: int) -> None:
    owner = np.random.default_rng(seed).integers(ranks, size=mesh.count)

    def act(job: Communicator) -> Any:
        fine = FunctionSpace.on(job, mesh, 7, np.flatnonzero(owner == job.rank))
        return fine.coarsen(degree).sharing

    require_sharing(mesh, degree, owner, run_on_threads(ranks, act))


def require_sharing(
    mesh: Hexahedra, degree: int, owner: Integers, found: list[NodeSharing]
) -> None:
    """Each sharing is what a table of all ranks' ids says."""
    given_ids = [mesh.ids(degree, np.flatnonzero(owner == r)).ravel() for r in range(len(found))]
    owners = dict[int, int]()
    for rank, sharing in enumerate(found):
        assert np.array_equal(sharing.ids[sharing.indices], given_ids[rank])
        assert np.array_equal(np.sort(sharing.ids), np.unique(given_ids[rank]))
        assert (np.flatnonzero(sharing.owner == rank) == np.arange(sharing.own)).all()
        others = np.concatenate([given_ids[r] for r in range(len(found)) if r != rank] or [[]])
        is_shared = np.isin(sharing.ids, others)
        assert np.array_equal(np.flatnonzero(is_shared), sharing.shared)
        by_element = is_shared[sharing.indices].reshape(-1, (degree + 1) ** 3)
        assert np.array_equal(sharing.shared_elements, by_element.any(axis=1))
        for other, shared in sharing.shared_with.items():
            theirs = found[other].ids[found[other].shared_with[rank]]
            assert np.array_equal(sharing.ids[shared], theirs)
            assert set(theirs.tolist()) == {*given_ids[rank]} & {*given_ids[other]}
        for id_, of_rank in zip(sharing.ids.tolist(), sharing.owner.tolist(), strict=True):
            assert owners.setdefault(id_, of_rank) == of_rank
        rows = sharing.copies.head(sharing.unshared)
        target = SparseRows.contiguous(0, sharing.unshared)
        slices = [SlicedEllpack.of(each, target) for each in (sharing.unshared_copies, rows)]
        if sharing.unshared:
            assert np.array_equal(slices[0].indices, slices[1].indices)
