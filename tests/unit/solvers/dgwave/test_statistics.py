"""Extremes of the material of a run: of elements, also of halved ones, and of their nodes."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from checked import quantities_of, warnings_of
from dgwave_cases import EXPLOSION, WATER, build, setup
from thread_ranks import run_on_threads

from groundswell.backends import open_backend
from groundswell.errors import InputError
from groundswell.seismology.media.cellwise import ArrayMedium
from groundswell.solvers.dgwave.discretisation import discretise
from groundswell.solvers.dgwave.materials import brick_media, statistics
from groundswell.solvers.dgwave.materials.brick_media import read_material
from groundswell.solvers.dgwave.materials.properties import USED
from groundswell.solvers.dgwave.mesh.forest import build_forest
from groundswell.solvers.dgwave.setup import prepare

SOFT = {"vp": 1800, "vs": 900, "rho": 2000, "qp": 60, "qs": 40}
ROCK = {"vp": 3000, "vs": 1700, "rho": 2500, "qp": 400, "qs": 300}
LAYERS = {"kind": "layered", "layers": [{"top": 0, **SOFT}, {"top": 50, **ROCK}]}
CONSTANT = {"model": "constant", "band": [1, 20]}
HALVED = {"refinement": {"frequency": 6, "levels": 2}}
NODES = {"method": {"degree": 2, "material": "node"}}
SPONGE = {"boundary": {"sides": "sponge", "bottom": "sponge", "width": 2}}


def gradient(**changes: Any) -> dict[str, Any]:
    ends = [{"top": 0, **SOFT}, {"top": 600, **ROCK, **changes}]
    return {"kind": "layered", "interpolation": "linear", "layers": ends}


# --- which materials they are ---------------------------------------------------------------------


def test_halved_elements_have_their_own_averages() -> None:
    """The soft layer is a quarter of an element thick, as are elements that are halved twice."""
    whole, halved = (setup(medium=LAYERS, attenuation=CONSTANT, **more) for more in ({}, HALVED))
    assert whole.materials.statistics.qs_min > 1.5 * SOFT["qs"]
    found = halved.materials.statistics
    assert (found.vp_max, found.vs_max) == (ROCK["vp"], ROCK["vs"])
    assert (found.speed_min, found.qp_min, found.qs_min) == (SOFT["vs"], SOFT["qp"], SOFT["qs"])
    assert found.qp_qs_max == max(
        m["qp"] / m["qs"] / (0.75 * (m["vp"] / m["vs"]) ** 2) for m in (SOFT, ROCK)
    )
    text = {quantity.key: quantity.text for quantity in quantities_of(halved)}
    assert "900" in text["speed_min"] and "Qs = 40" in text["smallest_q"]


def test_layers_are_damped_by_the_fastest_elements() -> None:
    """Fast rock fills the lower half of an element, so only halved elements have its speed."""
    medium = {"kind": "layered", "layers": [{"top": 0, **SOFT}, {"top": 500, **ROCK}]}
    plain = {"medium": medium, "attenuation": {"model": "none"}, **SPONGE}
    whole, halved = setup(**plain), setup(**plain, refinement={"frequency": 3.2, "levels": 1})
    assert (
        whole.materials.statistics.vp_max < 0.8 * ROCK["vp"]
        and halved.materials.statistics.vp_max == ROCK["vp"]
    )
    for found in (whole, halved):
        terms = discretise(found, found.partition.elements(1, 0)).terms
        expected = 9 * found.materials.statistics.vp_max / 400
        assert terms.decay.max() == pytest.approx(3 * expected, rel=1e-12)  # at corners
        assert found.absorption.decay == pytest.approx(3 * expected, rel=1e-12)


def test_nodes_have_the_values_of_the_medium() -> None:
    """Quality factors are averages of elements."""
    found = setup(medium=gradient(), attenuation=CONSTANT, **NODES).materials.statistics
    ends = [found.speed_min, found.vp_max, found.vs_max]
    assert ends == pytest.approx([SOFT["vs"], ROCK["vp"], ROCK["vs"]], rel=1e-7)
    uniform = setup(medium=gradient(), attenuation=CONSTANT).materials.statistics
    assert uniform.speed_min > 1.05 * SOFT["vs"] and uniform.vp_max < 0.95 * ROCK["vp"]
    assert (found.qp_min, found.qs_min) == (uniform.qp_min, uniform.qs_min)


def test_nodes_decide_whether_pure_compression_gains_energy() -> None:
    """Qp is as large as the average allows, and larger than the deepest nodes allow."""
    medium = gradient(vs=2200, qp=440, qs=300)
    found, uniform = (setup(medium=medium, attenuation=CONSTANT, **m) for m in (NODES, {}))
    assert found.materials.statistics.qp_qs_max > 1.05 * uniform.materials.statistics.qp_qs_max
    assert [s.materials.statistics.qp_qs_max > 1 for s in (found, uniform)] == [True, False]
    told = [any("pure compression" in w for w in warnings_of(s)) for s in (found, uniform)]
    assert told == [True, False]


def test_soft_ground_is_that_of_nodes() -> None:
    lossless = {"medium": gradient(), "attenuation": {"model": "none"}}
    found, uniform = (setup(**lossless, **more) for more in (NODES, {}))
    assert found.absorption.soft_ground.contrast.max() == pytest.approx(
        ROCK["vs"] / SOFT["vs"], rel=1e-7
    )
    assert (
        uniform.absorption.soft_ground.contrast.max()
        < 0.9 * found.absorption.soft_ground.contrast.max()
    )


def test_fluid_elements_are_counted_as_they_are() -> None:
    sea = {"top": 0, **{name: WATER[name] for name in ("vp", "vs", "rho")}}
    rock = {name: ROCK[name] for name in ("vp", "vs", "rho")}
    medium = {"kind": "layered", "layers": [sea, {"top": 100, **rock}]}
    whole, halved = (
        setup(medium=medium, source=[EXPLOSION], **more)
        for more in ({}, {"refinement": {"frequency": 3.2, "levels": 1}})
    )
    upper = halved.geometry.forest.boxes()[1]
    assert (
        whole.materials.statistics.fluid == 8 * 8
    )  # an element that contains any fluid is a fluid
    assert halved.materials.statistics.fluid == int((upper[:, 2] <= 100 + 1e-6).sum()) != 8 * 8
    assert halved.materials.statistics.mixed == 0


# --- how they are computed ------------------------------------------------------------------------


@pytest.mark.parametrize("more", [HALVED, NODES | HALVED], ids=["halved", "nodes"])
def test_ranks_share_the_work(more: Any) -> None:
    case = build(medium=gradient(), attenuation=CONSTANT, **more)
    alone = prepare(case)
    extremes = statistics._extremes
    with patch.object(statistics, "_extremes", side_effect=extremes) as read:
        ranks = run_on_threads(3, lambda comm: prepare(case, comm))
    assert sum(len(call.args[1]) for call in read.call_args_list) == alone.geometry.count
    for found in ranks:
        for name, values in vars(alone.materials.statistics).items():
            assert np.array_equal(getattr(found.materials.statistics, name), values)
        assert (
            np.array_equal(found.materials.fastest, alone.materials.fastest)
            and found.dt == alone.dt
        )


def test_each_element_is_read_once() -> None:
    """For its statistics, and for the tables of a run, whose parts overlap."""
    with patch.object(brick_media, "read_material", side_effect=read_material) as read:
        found = setup(medium=gradient(), attenuation=CONSTANT, **NODES, **HALVED)
        nodal = discretise(found, found.partition.elements(1, 0)).nodal
        nodal.tables(open_backend("cpu"), "float64")
    geometry, media = found.geometry, found.materials.elements.medium.media
    assert sum(len(call.args[3]) for call in read.call_args_list) == geometry.count
    again = read_material(geometry.forest, geometry.grid, media, np.array([7, 3]), USED)
    assert np.array_equal(found.materials.elements.average(np.array([7, 3])).vs, again.vs)


def test_all_ranks_refuse_what_one_of_them_reads() -> None:
    vp = np.full((3, 4, 4), 3000.0)
    medium = {"kind": "arrays", "vp": vp, "vs": vp / 2, "rho": vp}
    case = build(medium=medium)
    vp[2, 3, 1] = -1
    found = run_on_threads(3, lambda comm: prepare(case, comm))
    assert all(isinstance(error, InputError) for error in found)
    assert all(r"cell (1, 3, 2)" in str(error) for error in found)


def test_unphysical_averages_of_halved_elements_are_refused() -> None:
    found = setup(medium=LAYERS, attenuation=CONSTANT, **HALVED)
    geometry, (first, second, third) = found.geometry, found.materials.elements.medium.media
    cells, spacing = second.cells, second.spacing
    vs = np.full(cells[::-1], 900.0)
    vs[2, 2, 1] = 3000
    wrong = ArrayMedium(spacing, vp=np.full(vs.shape, 3000.0), vs=vs, rho=np.full(vs.shape, 2000.0))
    media = [first, wrong, third]
    with pytest.raises(InputError, match=r"cell \(1, 2, 2\) .* vp must exceed sqrt\(4/3\) vs"):
        read_material(geometry.forest, geometry.grid, media, np.arange(geometry.count), USED)
    with pytest.raises(InputError, match=r"cell \(1, 2, 2\) .* vp must exceed sqrt\(4/3\) vs"):
        build_forest(found.case, geometry.grid, media[:2], None)
