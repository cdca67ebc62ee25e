"""Which element holds a position, and values of polynomials there."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from thread_ranks import run_on_threads

from groundswell.backends.cpu import CpuBackend
from groundswell.case.recording import RecordSection
from groundswell.errors import InputError
from groundswell.exchange.communicator import Communicator, SerialCommunicator
from groundswell.meshes.box import Box, kershaw
from groundswell.meshes.gll import gll
from groundswell.meshes.hexahedra import positions
from groundswell.outputs.launches import RecordLaunches, Targets
from groundswell.outputs.recording import PointSelection, RecordableField
from groundswell.outputs.ring_buffer import Ring
from groundswell.spectral_elements.point_location import (
    NOWHERE,
    _map,
    bounding_boxes,
    locate,
    pairs_in_boxes,
    tangents_at,
)
from groundswell.spectral_elements.recording import ElementDomain
from groundswell.spectral_elements.surface_location import find_surface

FIELD = RecordableField("u", "1", "solution")


def bent(points: NDArray[Any]) -> NDArray[Any]:
    """A smooth deformation of the unit cube, which bulges out of it."""
    x, y, z = np.moveaxis(points, -1, 0)
    wave = 0.08 * np.sin(np.pi * x) * np.sin(np.pi * y) * np.cos(2 * np.pi * z)
    return np.stack([x + wave, y - wave, z + 0.3 * x**2], axis=-1)


MESHES = {
    "box": Box((4, 3, 5), (-1.0, 0.0, 2.0), (1.0, 0.3, 9.0)),
    "straight": Box((4, 3, 3), deform=bent, order=1),
    "curved": Box((3, 3, 2), deform=bent, order=4),
    "slanted": Box((6, 4, 4), deform=kershaw(0.4, 0.3), order=1),
    "single": Box((1, 1, 1), deform=bent, order=3),
}


def inside(mesh: Box, count: int, seed: int) -> tuple[Any, Any, Any]:
    """Random elements, places in them, and the positions these are mapped to."""
    rng = np.random.default_rng(seed)
    elements = rng.integers(0, mesh.count, count)
    places = rng.uniform(-0.999, 0.999, (count, 3))
    nodes = mesh.geometry_nodes(elements)
    r, s, t = (gll(mesh.order).interpolation(along) for along in places.T)
    n = mesh.order + 1
    cubes = nodes.reshape(count, n, n, n, 3)
    return elements, places, np.einsum("pt,ps,pr,ptsrx->px", t, s, r, cubes)


@pytest.mark.parametrize("order", [1, 2])
def test_small_elements_far_from_the_origin_hold_their_positions(order: int) -> None:
    """Coordinates of maps are millions of metres, and rounded to a nanometre."""
    low = np.array([5e5, 5e6, 0.0])
    size = np.array([5.0, 5.0, 1.5])
    mesh = Box((10, 10, 3), tuple(low), tuple(low + size), order=order)
    points = low + size * np.random.default_rng(4).uniform(0, 1, (2000, 3))
    assert (locate(mesh, np.arange(mesh.count), points).elements != NOWHERE).all()
    assert np.allclose(find_surface(mesh, points[:, :2]), 0, atol=1e-8)


@pytest.mark.parametrize("name", MESHES)
def test_places_do_not_depend_on_what_else_is_located(name: str) -> None:
    """To the last bit: ranks locate the same positions in different elements."""
    mesh = MESHES[name]
    _, _, points = inside(mesh, 50, seed=5)
    together = locate(mesh, np.arange(mesh.count), points)
    for n, element in enumerate(together.elements):
        alone = locate(mesh, [element], points[n : n + 1])
        assert np.array_equal(alone.places[0], together.places[n])


@pytest.mark.parametrize("name", MESHES)
def test_positions_are_found_where_the_map_puts_them(name: str) -> None:
    mesh = MESHES[name]
    elements, places, points = inside(mesh, 300, seed=1)
    found = locate(mesh, np.arange(mesh.count), points)
    assert (found.elements == elements).all()
    assert np.abs(found.places - places).max() < 1e-9


@settings(max_examples=15)
@given(st.sampled_from([*MESHES]), st.integers(1, 9), st.integers(0, 999))
def test_polynomials_have_their_own_values(name: str, degree: int, seed: int) -> None:
    """In the element, of the place in it."""
    mesh, rng = MESHES[name], np.random.default_rng(seed)
    elements, places, points = inside(mesh, 20, seed)
    factors = rng.normal(size=(mesh.count, *(degree + 1,) * 3))

    def at(element: int, r: Any, s: Any, t: Any) -> Any:
        powers = [np.power.outer(np.asarray(a), np.arange(degree + 1)) for a in (r, s, t)]
        return np.einsum("abc,...a,...b,...c->...", factors[element], *powers)

    t, s, r = np.meshgrid(*[gll(degree).points] * 3, indexing="ij")
    values = np.stack([at(e, r, s, t).ravel() for e in range(mesh.count)])
    found = locate(mesh, np.arange(mesh.count), points)
    seen = (found.weights(degree) * values[found.elements]).sum(axis=1)
    exact = np.array([at(e, *place) for e, place in zip(elements, places, strict=True)])
    assert np.abs(seen - exact).max() < 1e-8 * np.abs(values).max()


@pytest.mark.parametrize("name", MESHES)
def test_nodes_are_found_in_the_first_element_that_has_them(name: str) -> None:
    mesh = MESHES[name]
    nodes = positions(mesh, 2, np.arange(mesh.count))
    ids = mesh.ids(2, np.arange(mesh.count)).ravel()
    _, first = np.unique(ids, return_index=True)
    owner = np.full(ids.max() + 1, mesh.count)
    np.minimum.at(owner, ids, np.repeat(np.arange(mesh.count), 27))
    found = locate(mesh, np.arange(mesh.count), nodes.reshape(-1, 3)[first])
    # Beside curved faces rounding may decide between neighbours.
    assert (found.elements >= owner[ids[first]]).all()
    assert (found.elements == owner[ids[first]]).mean() > 0.9
    assert (found.elements != NOWHERE).all()


@pytest.mark.parametrize("name", MESHES)
def test_positions_outside_are_nowhere(name: str) -> None:
    mesh, rng = MESHES[name], np.random.default_rng(2)
    low, high = bounding_boxes(mesh, np.arange(mesh.count))
    low, high = low.min(axis=0), high.max(axis=0)
    beyond = rng.uniform(low, high, (60, 3))
    axis = rng.integers(0, 3, 60)
    side = rng.choice([-0.01, 1.01], 60)
    beyond[np.arange(60), axis] = (low + side[:, None] * (high - low))[np.arange(60), axis]
    far = rng.normal(size=(10, 3)) * 1e6
    found = locate(mesh, np.arange(mesh.count), np.concatenate([beyond, far]))
    assert (found.elements == NOWHERE).all()


def test_just_outside_a_curved_face_is_outside() -> None:
    mesh = MESHES["single"]
    _, places, _ = inside(mesh, 100, seed=3)
    for face, (axis, sign) in enumerate((a, s) for a in range(3) for s in (-1, 1)):
        at = places.copy()
        at[:, axis] = sign
        nodes = mesh.geometry_nodes([0] * 100)
        reached, slopes = _map(nodes, mesh.order, at)
        step = sign * slopes[:, :, axis] * 1e-4
        counts = [
            (locate(mesh, [0], reached + share * step).elements == 0).sum() for share in (-1, 1)
        ]
        assert counts == [100, 0], face


def test_tangents_at_places() -> None:
    """Of an element that is turned, stretched and bent, against its map."""

    def turned(points: NDArray[Any]) -> NDArray[Any]:
        r, s, t = np.moveaxis(points, -1, 0)
        return np.stack([0.4 * s + 30 * t, 5 * r + s**3, -s - 4 * t], axis=-1)

    mesh = Box((1, 1, 1), deform=turned, order=3)  # r, s and t from 0 to 1
    [found] = tangents_at(mesh, [0], np.array([[0.2, -0.5, 0.7]]))
    assert np.allclose(found, np.array([[0, 0.4, 30], [5, 3 * 0.25**2, 0], [0, -1, -4]]) / 2)


def test_no_elements_and_no_positions() -> None:
    mesh = MESHES["box"]
    assert len(locate(mesh, np.arange(mesh.count), np.empty((0, 3))).elements) == 0
    assert (locate(mesh, [], np.zeros((2, 3))).elements == NOWHERE).all()


# --- recording ------------------------------------------------------------------------------------


def where(**content: Any) -> Any:
    return RecordSection(fields=["u"], file="r.nc", what="final", where=content).where


def recorded(comm: Communicator, mesh: Box, degree: int, of: Any, values: Any) -> tuple[Any, Any]:
    """Where a rank's values belong, and what its kernel finds; each has every third element."""
    elements = np.arange(comm.rank, mesh.count, comm.size)
    chosen = ElementDomain(comm, mesh, degree, elements).select(of, [FIELD])
    backend = CpuBackend()
    launches = RecordLaunches(backend, "float64", backend.zeros((1,), np.int64))
    ring = Ring(backend, (1, *chosen.count), 1, 1, "float64")
    array = backend.to_device(values[elements])
    for launch in launches.record([array], chosen, Targets(0, 1, ring)):
        launch()
    return chosen, np.array(ring.buffer[0, 0])


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("name", MESHES)
def test_ranks_share_positions_and_each_is_recorded_once(name: str, ranks: int) -> None:
    mesh, degree = MESHES[name], 4
    _, _, points = inside(mesh, 30, seed=5)
    corners = mesh.geometry_nodes([0])[0][:8]
    points = np.concatenate([points, corners])
    nodes = positions(mesh, degree, np.arange(mesh.count))
    values = np.sin(nodes @ [0.3, 0.2, 0.1])
    of = where(kind="points", positions=points.tolist())
    found = run_on_threads(ranks, lambda w: recorded(w, mesh, degree, of, values))
    assert not [error for error in found if isinstance(error, Exception)]
    whole, times = np.zeros(len(points)), np.zeros(len(points), int)
    for chosen, seen in found:
        whole[chosen.place] = seen
        times[chosen.place] += 1
    assert (times == 1).all()
    assert whole == pytest.approx(np.sin(points @ [0.3, 0.2, 0.1]), abs=2e-3)


@pytest.mark.parametrize("ranks", [1, 3])
def test_fields_that_jump_are_recorded_in_the_lowest_element(ranks: int) -> None:
    """Wherever the elements are and in whatever order ranks have them."""
    mesh = MESHES["box"]
    points = np.unique(mesh.geometry_nodes(np.arange(mesh.count)).reshape(-1, 3), axis=0)
    holding = [locate(mesh, [n], points).elements != NOWHERE for n in range(mesh.count)]
    order = np.random.default_rng(1).permutation(mesh.count)

    def act(comm: Communicator) -> Any:
        elements = order[comm.rank :: comm.size]
        of = where(kind="points", positions=points.tolist())
        selection = ElementDomain(comm, mesh, 2, elements).select(of, [FIELD])
        return selection.place[0], elements[selection.cells[0, :, 0]]

    found = np.full(len(points), -1)
    for place, elements in run_on_threads(ranks, act):
        found[place] = elements
    assert found.tolist() == np.argmax(holding, axis=0).tolist()


def test_a_position_outside_the_mesh_is_refused_on_all_ranks() -> None:
    mesh = MESHES["box"]
    of = where(kind="points", positions=[[0.0, 0.1, 3.0], [0.0, 0.5, 3.0], [2.0, 0.1, 3.0]])

    def act(comm: Communicator) -> Any:
        elements = np.arange(comm.rank, mesh.count, comm.size)
        return ElementDomain(comm, mesh, 2, elements).select(of, [FIELD])

    for error in run_on_threads(3, act):
        assert isinstance(error, InputError)
        assert "2 of 3 positions" in str(error) and "first is (0, 0.5, 3) m" in str(error)
        assert "x -1 to 1, y 0 to 0.3, z 2 to 9 m" in str(error)


@pytest.mark.parametrize("counts", [(1, 1, 1), (50, 1, 200)])
def test_rounding_beside_the_mesh_is_of_its_size_not_of_its_elements(
    counts: tuple[int, int, int],
) -> None:
    """So that checks, which use an outline, accept the positions that runs accept."""
    domain = ElementDomain.outline(Box(counts, (-1.0, 0.0, 2.0), (1.0, 0.3, 9.0)))
    corners = np.array([[-1.0, 0.0, 9.0], [1.0, 0.3, 2.0]])
    outwards, extent = np.array([[-1, -1, 1], [1, 1, -1]]), np.array([2.0, 0.3, 7.0])
    near = (corners + 9e-10 * extent * outwards).tolist()
    chosen = domain.select(where(kind="points", positions=near), [FIELD])
    assert chosen.count == (2,)
    assert np.array_equal(chosen.frame.coordinates["x"].values, [near[0][0], near[1][0]])
    for axis in range(3):
        far = corners.copy()
        far[:, axis] += 1.1e-9 * (extent * outwards)[:, axis]
        with pytest.raises(InputError, match="2 of 2 positions"):
            domain.select(where(kind="points", positions=far.tolist()), [FIELD])


def test_messages_show_how_a_position_differs_from_the_ends_of_the_mesh() -> None:
    domain = ElementDomain.outline(Box((1, 1, 1), (0.0, 0.0, 5e6), (800.0, 600.0, 5e6 + 1000)))
    of = where(kind="points", positions=[[800.000001, 0.0, 5000000.0], [0.0, 0.0, 4999999.999998]])
    message = r"is \(800.000001, 0, 5000000\) m; .* x 0 to 800, y .*, z 5000000 to 5001000 m; move"
    with pytest.raises(InputError, match=message):
        domain.select(of, [FIELD])


def test_a_plane_reaches_over_the_whole_mesh_and_marks_what_lies_outside() -> None:
    mesh = MESHES["curved"]
    domain = ElementDomain(SerialCommunicator(), mesh, 3, np.arange(mesh.count))
    chosen = domain.select(where(kind="plane", normal="y", at=0.4, points=(21, 11)), [FIELD])
    assert isinstance(chosen, PointSelection)
    assert chosen.frame.dims["u"] == ("z", "x") and chosen.frame.shape("u") == (11, 21)
    assert 0 < len(chosen.missing) < 231 and chosen.count[0] + len(chosen.missing) == 231
    x, z = (chosen.frame.coordinates[name].values for name in "xz")
    outside = np.zeros(231, bool)
    outside[chosen.missing] = True
    assert outside.reshape(11, 21)[-1, 0]  # the mesh leans: high up there is nothing at low x
    assert z[-1] > 1.2 and x[0] <= 0.0
    assert np.isnan(chosen.complete(np.zeros((2, 231)))[:, outside]).all()


def test_what_elements_do_not_have_is_refused() -> None:
    mesh = MESHES["box"]
    domain = ElementDomain(SerialCommunicator(), mesh, 3, np.arange(mesh.count))
    with pytest.raises(InputError, match="points is required for a plane across elements"):
        domain.select(where(kind="plane", normal="y", at=0.1), [FIELD])
    with pytest.raises(InputError, match=r"4 of 4 positions of .* outside the mesh"):
        domain.select(where(kind="plane", normal="z", at=99.0, points=(2, 2)), [FIELD])
    with pytest.raises(InputError, match="'all' is for grids; use points, line or plane"):
        domain.select(where(kind="all"), [FIELD])


def graded_boxes(count: int, axes: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Low and high corners of boxes of sizes from 1 to 1000 that grow with the distance from 0."""
    rng = np.random.default_rng(7)
    sizes = 10 ** rng.uniform(0, 3, (count, 1))
    middles = rng.normal(size=(count, axes)) * 5 * sizes
    sizes = sizes * rng.uniform(0.5, 1.5, (count, axes))
    return middles - sizes / 2, middles + sizes / 2


@pytest.mark.parametrize("axes", [2, 3])
@pytest.mark.parametrize("count", [0, 1, 500])
def test_pairs_are_those_of_all_positions_and_boxes(axes: int, count: int) -> None:
    """Also of equal positions, and of those on corners; in the order of positions, then boxes."""
    low, high = graded_boxes(700, axes)
    middles = (low + high)[:count] / 2
    points = np.concatenate([middles, middles, low[:count]])
    is_inside = (low <= points[:, None]) & (points[:, None] <= high)
    expected = np.nonzero(is_inside.all(axis=2))
    assert np.array_equal(pairs_in_boxes(low, high, points), expected)
    assert not len(pairs_in_boxes(low[:0], high[:0], points)[0])


def test_boxes_of_very_different_sizes_take_little_memory() -> None:
    """Which bounds the time, too: positions are not compared with all the boxes around them."""
    low, high = graded_boxes(10_000, 3)
    tracemalloc.start()
    which, _ = pairs_in_boxes(low, high, (low + high) / 2)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(which) < 100_000
    assert peak < 16e6
