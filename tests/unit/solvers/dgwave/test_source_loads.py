"""Loads of point sources: their moments, symmetry, and where they end."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from dgwave_cases import EXPLOSION, setup
from hypothesis import given, settings
from hypothesis import strategies as st

from groundswell.meshes.gll import gll
from groundswell.solvers.dgwave import source_loads
from groundswell.solvers.dgwave.discretisation import discretise
from groundswell.solvers.dgwave.source_loads import Load, point_loads
from groundswell.solvers.dgwave.source_moments import (
    MOMENTS,
    moment_polynomials,
    slack_of,
    smoothing,
)
from groundswell.solvers.dgwave.source_reach import reach_warnings
from groundswell.spectral_elements.curl_form import element_nodes, jacobians

ROUNDING = 1e-9  # of the moments of orders 0 and 1: the condition of their products times rounding
HIGHER = 2e-3  # of moments of orders 2 to 6, which are those of the delta function but for a slack
PLACES = {"odd": (430.0, 450.0, 310.0), "face": (400.0, 450.0, 310.0), "edge": (400, 400, 310),
          "corner": (400, 400, 400), "surface": (430, 450, 0), "side": (0, 450, 310)}  # fmt: skip
HILL = {"kind": "formula", "elevation": "40 * sin(x / 150) * cos(y / 170)"}
FINER = {"frequency": 8, "points": 5, "levels": 1}
LAYERS = [{"top": 0, "vp": 2000, "vs": 900, "rho": 2000},
          {"top": 200, "vp": 4000, "vs": 2300, "rho": 2600}]  # fmt: skip


def ready(places: list[Any], **changes: Any) -> Any:
    sources = [{**EXPLOSION, "x": x, "y": y, "depth": z} for x, y, z in places]
    return setup(source=sources, **{"method__degree": 5} | changes)


def loads(prepared: Any) -> list[Load]:
    every = np.ones(prepared.geometry.count, bool)
    return [
        load for _, load in point_loads(prepared.materials.elements, prepared.survey.sources, every)
    ]


def test_only_sources_near_chosen_elements_are_shaped() -> None:
    """Those of a rank; the loads are the same as among all."""
    prepared = ready([(10.0, 10.0, 10.0), (700.0, 700.0, 500.0)])
    elements, sources = prepared.materials.elements, prepared.survey.sources
    leaf = int(prepared.geometry.locate(np.array([[700.0, 700.0, 500.0]]))[0][0])
    own = np.arange(prepared.geometry.count) == leaf
    with patch.object(source_loads, "slack_of", side_effect=slack_of) as shaped:
        [(number, load)] = point_loads(elements, sources, own)
    assert number == 1 and shaped.call_count == 1
    everywhere = loads(prepared)[1]
    assert np.array_equal(load.values, everywhere.values)
    assert np.array_equal(load.elements, everywhere.elements)
    assert not [*point_loads(elements, sources, np.zeros_like(own))]


def moments(prepared: Any, load: Load, place: Any, powers: Any) -> Any:
    """Integrals of the load times monomials about the source, in units of their largest terms."""
    nodes = element_nodes(prepared.geometry.hexahedra, prepared.degree, load.elements)
    if prepared.geometry.is_curved:
        volumes = jacobians(prepared.geometry.shapes.metrics(load.elements, "float64"))
    else:
        volumes = np.prod(prepared.geometry.edges[load.elements] / 2, axis=1)[:, None]
    shares = load.values * volumes * gll(prepared.degree).cube_weights
    offsets = (nodes - prepared.geometry.place(np.array([place]))[0]) / 200
    terms = shares[..., None] * np.prod(offsets[:, :, None] ** powers, axis=-1)
    return terms.sum(axis=(0, 1))


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize("mesh", [{}, {"topography": HILL}, {"refinement": FINER}])
def test_moments_are_those_of_a_delta_function(mesh: dict[str, Any], place: Any) -> None:
    """Wherever the source lies; on curved elements, only those of constants are exact."""
    prepared = ready([place], **mesh)
    [load] = loads(prepared)
    powers = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (2, 0, 0), (0, 1, 2)])
    found = moments(prepared, load, place, powers)
    assert abs(found[0] - 1) < ROUNDING
    assert np.abs(found[1:4]).max() < (0.02 if prepared.geometry.is_curved else ROUNDING)
    assert np.abs(found[4:]).max() < (0.02 if prepared.geometry.is_curved else HIGHER)


@settings(max_examples=12, deadline=None)
@given(
    st.tuples(*[st.floats(0, end) for end in (800, 800, 600)]),
    st.lists(st.sampled_from([100.0, 200.0, 300.0]), min_size=3, max_size=5),
)
def test_moments_on_random_grids(place: Any, heights: list[float]) -> None:
    heights = [height * 600 / sum(heights) for height in heights]
    prepared = ready([place], grid={"size": [800, 800, 600], "spacing": [200, 200, heights]})
    [load] = loads(prepared)
    powers = np.array([(0, 0, 0), (1, 0, 0), (0, 0, 1), (0, 2, 0), (1, 1, 1)])
    found = moments(prepared, load, place, powers)
    assert np.abs(found[:3] - [1, 0, 0]).max() < ROUNDING
    assert np.abs(found[3:]).max() < 0.02  # in corners of the region, too


def test_moments_up_to_order_six_in_a_large_mesh() -> None:
    prepared = ready([(410, 455, 300)], grid={"size": [800, 800, 600], "spacing": 100})
    [load] = loads(prepared)
    assert MOMENTS == 6
    powers = np.array([(1, 1, 1), (2, 2, 2), (3, 0, 3), (0, 3, 3), (1, 2, 3)])
    found = moments(prepared, load, (410, 455, 300), powers)
    assert np.abs(found).max() < HIGHER


def test_loads_are_symmetric() -> None:
    """Sources mirrored at the middle of the region, and with x and y exchanged."""
    places = [(330.0, 270.0, 290.0), (470.0, 270.0, 290.0), (270.0, 330.0, 290.0)]
    one, mirrored, turned = loads(ready(places))
    n = 6
    by_node = one.values.reshape(-1, n, n, n)
    for other, change in ((mirrored, by_node[..., ::-1]), (turned, by_node.swapaxes(2, 3))):
        ours = np.sort(change.reshape(len(by_node), -1).sum(axis=1))
        theirs = np.sort(other.values.sum(axis=1))
        assert np.allclose(ours, theirs, rtol=1e-9, atol=1e-9 * np.abs(ours).max())


def test_loads_end_at_contrasts_and_in_the_region() -> None:
    """A source on an interface is in the element that holds it, and so is its load."""
    prepared = ready([(430, 450, 190)], medium={"kind": "layered", "layers": LAYERS})
    [load] = loads(prepared)
    lower, upper = prepared.geometry.forest.boxes(load.elements)
    assert (upper[:, 2] <= 200 + 1e-9).all() and (lower >= -1e-9).all()
    assert len(load.elements) > 4
    [alone] = loads(ready([(430, 450, 190)]))
    assert len(alone.elements) > len(load.elements)


def test_loads_end_at_the_sea_floor() -> None:
    sea = [{"top": 0, "vp": 1500, "vs": 0, "rho": 1000}, LAYERS[1]]
    prepared = ready([(430, 450, 205)], medium={"kind": "layered", "layers": sea})
    [load] = loads(prepared)
    assert (prepared.materials.elements.average(load.elements).vs > 0).all()


def test_ranks_have_the_same_loads() -> None:
    """Bit for bit, also of a source whose load spans all ranks."""
    prepared = ready([PLACES["corner"], PLACES["odd"]])

    def loads_on(ranks: int) -> list[tuple[int, bytes]]:
        parts = [prepared.partition.elements(ranks, rank) for rank in range(ranks)]
        assert sum(elements.count for elements in parts) == prepared.geometry.count
        return sorted(
            (int(elements.numbers[part.element]), part.load.tobytes())
            for elements in parts
            for part in discretise(prepared, elements).terms.sources
        )

    assert loads_on(3) == loads_on(1)


def test_forces_are_divided_by_density() -> None:
    """All momentum is that of the force, also in layers of slightly different density."""
    layers = [LAYERS[0], {**LAYERS[0], "top": 200, "rho": 2100}]
    force = {"kind": "force", "force": [0, 0, 1e9], "time_function": EXPLOSION["time_function"]}
    source = {**force, "x": 430, "y": 450, "depth": 190}
    prepared = setup(
        source=[source], method__degree=5, medium={"kind": "layered", "layers": layers}
    )
    elements = prepared.partition.elements(1, 0)
    momentum = 0.0
    for part in discretise(prepared, elements).terms.sources:
        leaf = elements.numbers[[part.element]]
        volume = np.prod(prepared.geometry.edges[leaf] / 2)
        share = float((part.load * gll(5).cube_weights).sum()) * volume
        momentum += (
            share * float(prepared.materials.elements.average(leaf).rho[0]) * part.history.rates[-1]
        )
    assert abs(momentum / 1e9 - 1) < ROUNDING


@pytest.mark.parametrize(("kind", "distance", "warns"), [
    (EXPLOSION, 240, True), (EXPLOSION, 260, False),
    ({"kind": "force", "force": [0, 0, 1e9], "time_function": EXPLOSION["time_function"]}, 210,
     False)])  # fmt: skip
def test_receivers_in_the_load_are_named(kind: Any, distance: float, warns: bool) -> None:
    """Elements have edges of 200 m; loads of moments reach 1.25 edges, of forces 1."""
    receiver = {"name": "NEAR", "x": 430 + distance, "y": 450, "depth": 310}
    source = {**kind, "x": 430, "y": 450, "depth": 310}
    prepared = setup(source=[source], receiver=[receiver], method__degree=5)
    found = [*reach_warnings(prepared.materials.elements, prepared.survey)]
    assert len(found) == warns and all("NEAR" in text for text in found)


def test_the_highest_polynomials_have_no_load() -> None:
    """Their motion would neither propagate nor decay."""
    for degree in (1, 2, 5, 8):
        points = gll(degree).points
        top = np.polynomial.legendre.Legendre.basis(degree)(points)
        assert np.abs(smoothing(degree) @ top).max() < 1e-13
        assert np.allclose(smoothing(degree) @ np.ones(degree + 1), 1)


@pytest.mark.parametrize("degree", [1, 4, 5])
def test_lines_of_bricks_give_what_all_nodes_give(degree: int) -> None:
    rng, points = np.random.default_rng(degree), gll(degree).points
    low, half = rng.uniform(-1, 0.5, (2, 7, 3))
    lines = low[:, None] + half[:, None] * points[:, None]
    z, y, x = (lines[:, :, axis] for axis in (2, 1, 0))
    shape = (7, *[degree + 1] * 3)
    cube = (x[:, None, None, :], y[:, None, :, None], z[:, :, None, None])
    places = np.stack([np.broadcast_to(c, shape) for c in cube], axis=-1).reshape(7, -1, 3)
    found, expected = (moment_polynomials(places, degree, is_curved) for is_curved in (False, True))
    assert np.allclose(found, expected, rtol=1e-12, atol=1e-12 * np.abs(expected).max())
