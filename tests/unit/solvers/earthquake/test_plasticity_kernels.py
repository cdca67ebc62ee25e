"""Yield of the rock on the grid against NumPy, on CPUs and as a GPU would do it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from emulated_backend import EmulatedBackend
from yielding_rock import FORCE, ROCK, YieldingPart, initial, random_stresses, small_setup, yielded

from groundswell.backends import Backend, Blocks, open_backend
from groundswell.exchange.decomposition import Block
from groundswell.grids.cartesian import Part
from groundswell.solvers.earthquake.material_classes import ClassMaterials
from groundswell.solvers.earthquake.plasticity.tiles import peaks_shape
from groundswell.solvers.earthquake.solver import STRESSES, Earthquake
from groundswell.solvers.earthquake.step_source import step_source

KERNELS = Path(__file__).parent / "kernels"
TOLERANCE = {"float32": 1e-6, "float64": 1e-14}  # of the largest stress, initial one included
LARGEST = 3e7
CPU, EMULATED = open_backend("cpu"), EmulatedBackend()
EMULATED.on_host = False  # blocks of threads are those of a GPU


def check(setup: Any, backend: Backend, part: Part, seed: int, **options: Any) -> YieldingPart:
    """One yield of random stresses, against the formulas."""
    whole = random_stresses(setup, seed)
    wanted = yielded(setup, whole)
    found = YieldingPart(setup, backend, part, **options)
    found.fill(whole)
    found.step()
    tolerance = TOLERANCE[setup.dtype]
    for name in STRESSES:
        error = np.abs(found.stresses[name] - found.of(wanted[name])).max()
        assert error < tolerance * LARGEST, (name, error)
    strain, all_of = found.rank.strain.interior, found.of(wanted["plastic_strain"])
    # relative to the strain of the largest stress
    assert np.abs(strain - all_of).max() < tolerance * LARGEST / (2200 * 1500.0**2)
    return found


@pytest.mark.each_value
@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("sides", ["pml", "periodic"])
@pytest.mark.parametrize("top", ["free-surface", "absorbing"])
def test_yield_against_numpy(precision: str, sides: str, top: str) -> None:
    setup = small_setup(
        boundary={"width": 3, "sides": sides, "top": top}, run={"precision": precision}
    )
    found = check(setup, CPU, Part.whole(setup.grid), 7)
    part = found.of(yielded(setup, random_stresses(setup, 7))["lost"]) > 0
    assert 0.03 < part.mean() < 0.7  # some yield, and some do not


def test_yield_as_a_gpu_does_it() -> None:
    setup = small_setup()
    whole = check(setup, EMULATED, Part.whole(setup.grid), 8)
    other = check(setup, CPU, Part.whole(setup.grid), 8)
    # The GPU fuses products and sums, the CPU does not.
    for name in STRESSES:
        np.testing.assert_allclose(whole.stresses[name], other.stresses[name], atol=1e-7)
    assert np.array_equal(whole.rank._flags, other.rank._flags)


@pytest.mark.gpu
@pytest.mark.parametrize("precision", ["single", "double"])
def test_yield_on_a_gpu(gpu: Any, precision: str) -> None:
    setup = small_setup(run={"precision": precision})
    whole, wanted = random_stresses(setup, 8), yielded(setup, random_stresses(setup, 8))
    found = YieldingPart(setup, gpu, Part.whole(setup.grid))
    for name, field in found.fields.items():
        gpu.assign(field.array, whole[name].astype(setup.dtype))
    found.step()
    for name in STRESSES:
        stress = gpu.to_host(found.stresses[name])
        assert np.abs(stress - found.of(wanted[name])).max() < TOLERANCE[setup.dtype] * LARGEST


@pytest.mark.gpu
@pytest.mark.parametrize("precision", ["single", "double"])
def test_steps_on_a_gpu_search_what_they_must(gpu: Any, precision: str) -> None:
    """The same bits as with a search of all tiles, and peaks of the stresses that a step leaves."""
    weak = {**ROCK, "cohesion": "2e5 + 100 * x", "stress": {"ratio": 1.0}, "friction_angle": 10.0}
    explosion = {**FORCE, "force": [3e11, -2e11, 2e11]}
    setup = small_setup(plasticity=weak, source=[explosion], run={"precision": precision})
    some, all_tiles = Earthquake(setup, gpu), Earthquake(setup, gpu)
    all_tiles.rheology._limits[...] = 0
    for _ in range(60):
        some.step(), all_tiles.step()
    assert some.snapshot("plastic_strain").max() > 0
    for name in (*STRESSES, "vx", "plastic_strain"):
        assert np.array_equal(some.snapshot(name), all_tiles.snapshot(name)), name
    whole = [Block((0, 0, 0), some.part.shape)]
    for launch in (*some.rheology._clear_peaks(), some._update_stress(whole)[0]):
        launch()
    wanted = np.max([np.abs(gpu.to_host(some.fields[n].interior)).max() for n in STRESSES])
    found = gpu.to_host(some.rheology._peaks).view(np.float32)
    assert found.max() == pytest.approx(wanted, rel=3e-7) and (found > 0).mean() > 0.3


# --- parts ----------------------------------------------------------------------------------------

PARTS = [((0, 0, 0), (33, 6, 7)), ((33, 0, 0), (14, 6, 7)), ((0, 6, 0), (47, 11, 15)),
         ((33, 6, 7), (14, 11, 8)), ((1, 6, 7), (32, 5, 3))]  # fmt: skip


@pytest.mark.each_value
@pytest.mark.parametrize(("start", "cells"), PARTS)
@pytest.mark.parametrize("backend", [CPU, EMULATED], ids=["cpu", "emulated gpu"])
def test_parts_yield_as_the_whole(start: Any, cells: Any, backend: Backend) -> None:
    """Bit for bit, from no other ghosts than those that ranks exchange."""
    setup = small_setup()
    grid, whole = setup.grid, random_stresses(setup, 9)
    reference = YieldingPart(setup, backend, Part.whole(grid))
    reference.fill(whole)
    reference.step()
    cells = tuple(min(n, m - s) for n, m, s in zip(cells, grid.cells, start, strict=True))
    found = YieldingPart(setup, backend, Part(grid, start, cells))
    found.fill(whole)
    found.step()
    i, j, k = start
    inside = tuple(slice(s, s + n) for s, n in zip((k, j, i), cells[::-1], strict=True))
    for name in STRESSES:
        assert np.array_equal(found.stresses[name], reference.stresses[name][inside]), name
    strains = (p.rank.strain.interior for p in (found, reference))
    own, all_of = strains
    assert np.array_equal(own, all_of[inside])


def test_boxes_together_relax_the_whole() -> None:
    setup = small_setup()
    whole, part = random_stresses(setup, 10), Part.whole(setup.grid)
    once, in_boxes = (YieldingPart(setup, CPU, part) for _ in range(2))
    nz, ny, nx = part.shape
    boxes = [
        Block((0, 0, 0), (4, ny, nx)),
        Block((4, 0, 0), (nz - 4, ny, 9)),
        Block((4, 0, 9), (nz - 4, 5, nx - 9)),
        Block((4, 5, 9), (nz - 4, ny - 5, nx - 9)),
    ]
    for each, given in ((once, None), (in_boxes, boxes)):
        each.fill(whole)
        each.step(given)
    for name in STRESSES:
        assert np.array_equal(once.stresses[name], in_boxes.stresses[name])


@pytest.mark.parametrize("backend", [CPU, EMULATED], ids=["cpu", "emulated gpu"])
def test_what_has_yielded_leaves_no_trace(backend: Backend) -> None:
    """The next step with small stresses changes none of them, and no other value is touched."""
    setup = small_setup(plasticity={**ROCK, "cohesion": "20e6 + 0 * x"})
    part = YieldingPart(setup, backend, Part.whole(setup.grid))
    part.fill(random_stresses(setup, 11, size=4e7))
    part.step()
    assert part.rank._flags.any() and part.rank.lost.interior.any()
    small = random_stresses(setup, 12, size=1e3)
    part.fill(small)
    strain = part.rank.strain.interior.copy()
    part.step()
    assert not part.rank._flags.any() and not part.rank.lost.array.any()
    assert np.array_equal(part.rank.strain.interior, strain)
    for name in STRESSES:
        assert np.array_equal(part.stresses[name], part.of(small[name]))


def test_tiles_of_small_stresses_are_skipped() -> None:
    """By the bound, which is never too high: the search of all tiles finds the same."""
    setup = small_setup(plasticity={**ROCK, "cohesion": "5e6 + 50 * x"})
    part = YieldingPart(setup, EMULATED, Part.whole(setup.grid))
    whole = random_stresses(setup, 17, size=3e6)
    part.fill(whole)
    part.step()
    assert part.rank._flags.any()
    limits, flags = part.rank._cells.limits, part.rank._flags.copy()
    around = np.stack(
        [
            np.roll(part.largest(), (-k, -j, -i), (0, 1, 2))[:-1, :-1, :-1]
            for k in (0, 1)
            for j in (0, 1)
            for i in (0, 1)
        ]
    ).max(axis=0)
    may_skip = around < limits
    assert 0.2 < may_skip[np.isfinite(limits)].mean() < 0.95 and not flags[may_skip].any()
    part.fill(whole)  # without peaks, nothing is searched but what must be
    part.rank._flags[...] = 0
    for launch in part.rank.find(part.stresses):
        part.rank._peaks[...] = 0
        launch()
    assert not part.rank._flags[limits > 0].any()


@pytest.mark.each_value
@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("ends", [(0, 47), (0, 16), (16, 31), (31, 33), (33, 47)])
def test_peaks_of_boxes(precision: str, ends: tuple[int, int]) -> None:
    """Of the cells of a box alone, whatever its ends are; other tiles keep theirs."""
    setup = small_setup(run={"precision": precision})
    part = YieldingPart(setup, EMULATED, Part.whole(setup.grid))
    part.fill(random_stresses(setup, 18))
    source = step_source(setup, part.part, part.layout, part.materials, part.layers, peaks=True)
    module = EMULATED.compile(replace(source, path=KERNELS / "keep_peaks.h"))
    peaks = np.zeros(peaks_shape(part.part.cells), np.uint32)
    _, ny, nz = part.part.cells
    where = {"first_i": ends[0], "count_i": ends[1] - ends[0], "blocks": ny * nz}
    module.launch("keep_peaks", Blocks(ny * nz, 64), peaks=peaks, **part.stresses, **where)()
    for name in STRESSES:
        part.stresses[name][:, :, : ends[0]] = part.stresses[name][:, :, ends[1] :] = 0
    wanted = part.largest(exact=precision == "single")
    if precision == "single":
        assert np.array_equal(peaks.view(np.float32), wanted)
    else:  # rounded up
        np.testing.assert_allclose(peaks.view(np.float32), wanted, rtol=3e-7, atol=1e-30)


# --- storage of the strength ----------------------------------------------------------------------


def test_more_strengths_than_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    setup = small_setup()
    check(setup, CPU, Part.whole(setup.grid), 13)
    monkeypatch.setattr("groundswell.simulation.material_classes.MOST", 100)
    found = check(setup, CPU, Part.whole(setup.grid), 13)
    assert found.rank._strength[0] == 2


def test_materials_in_classes() -> None:
    setup = small_setup()
    check(setup, CPU, Part.whole(setup.grid), 14, stored=ClassMaterials)


def test_strength_by_depth_needs_no_field() -> None:
    layers = [
        {"top": 0.0, "vp": 3000.0, "vs": 1500.0, "rho": 2200.0},
        {"top": 300.0, "vp": 3000.0, "vs": 1500.0, "rho": 2200.0001},
    ]
    medium = {"kind": "layered", "layers": layers}
    rows, classes = (
        small_setup(medium=medium, plasticity={**ROCK, "cohesion": cohesion})
        for cohesion in ("1e6 + 2e3 * depth", "1e6 + 2e3 * depth + 0 * x")
    )
    found = []
    for setup in (rows, classes):
        part = YieldingPart(setup, CPU, Part.whole(setup.grid))
        part.fill(random_stresses(setup, 15))
        part.step()
        found.append(part)
    assert [part.rank._strength[0] for part in found] == [0, 1]
    for name in STRESSES:
        assert np.array_equal(found[0].stresses[name], found[1].stresses[name])
    assert found[0].rank._flags.any()


# --- closed forms ---------------------------------------------------------------------------------


def uniform(stress: dict[str, float], **rock: Any) -> YieldingPart:
    """The whole of a periodic grid with a uniform stress, in rock with this strength."""
    zeros = dict.fromkeys(("xx", "yy", "zz", "xy", "xz", "yz"), 0.0)
    tensor = {**zeros, **dict.fromkeys(("xx", "yy", "zz"), -4e7)}
    given = {**ROCK, "fluid_pressure": 0.0, "stress": {"tensor": tensor}, **rock}
    setup = small_setup(boundary={"width": 3, "sides": "periodic"}, plasticity=given)
    part = YieldingPart(setup, CPU, Part.whole(setup.grid))
    for name, field in part.fields.items():
        field.array[...] = stress.get(name, 0.0)
    return part


@pytest.mark.most(3)
@pytest.mark.parametrize("component", ["sxy", "sxz", "syz"])
@pytest.mark.parametrize("time", [0.0, 0.03])
def test_simple_shear_at_a_constant_rate(component: str, time: float) -> None:
    """In the end Y + mu rate dt e / (1 - e), to rounding, where all neighbours yield alike."""
    part = uniform({}, cohesion=2e6, friction_angle=25.0, relaxation_time=time)
    dt, field = part.setup.dt, part.fields[component].array
    e, step = np.exp(-dt / time) if time else 0.0, 1e5
    for _ in range(2000 if time else 200):
        field += step
        part.step()
        field[...] = field[8, 8, 8]  # also in ghosts, layers and on the surface
    angle = np.radians(25)
    strength = 2e6 * np.cos(angle) + 4e7 * np.sin(angle)
    assert field[8, 8, 8] == pytest.approx(strength + step * e / (1 - e), rel=1e-12)


def test_triaxial_compression() -> None:
    """Yield begins at the axial stress of (s1 - s3) / sqrt(3) = c cos(phi) + p sin(phi)."""
    c, phi = 2e6, np.radians(30)
    excess = (c * np.cos(phi) + 4e7 * np.sin(phi)) / (1 / np.sqrt(3) - np.sin(phi) / 3)
    for factor, yields in ((1 - 1e-9, False), (1 + 1e-9, True)):
        part = uniform({"szz": -factor * excess}, cohesion=c, friction_angle=30.0)
        part.step()
        assert part.rank._flags.any() == yields


def test_no_deviator_of_the_whole_stress_grows() -> None:
    """So that yield takes energy: of each value, with the initial stress of its place."""
    setup = small_setup(boundary={"width": 3, "sides": "periodic"})
    whole, part = random_stresses(setup, 16, 3e7), YieldingPart(setup, CPU, Part.whole(setup.grid))
    part.fill(whole)
    part.step()
    inside = setup.grid.region_slices
    k = np.arange(setup.grid.region[2])[:, None, None]
    for name in ("sxy", "sxz", "syz"):
        depth = (k + (0.0 if "z" in name else 0.5)) * setup.grid.spacing[2]
        before, after = (
            np.abs(s[inside] + initial(depth)[name])
            for s in (part.of(whole[name]), part.stresses[name])
        )
        # on the free surface nothing changes, as the stress is 0
        assert (after <= before * (1 + 1e-12)).all() and (after < 0.99 * before).any()
