"""Points that stand for a medium before a run: their extremes are those of all points."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checked import cost, decomposed, quantities_of, warnings_of
from ultrasound_cases import setup
from ultrasound_media import AXES, CELLS, REGION, WATER, H, inside, model, properties_file, save

from groundswell.backends import host_threads
from groundswell.errors import InputError
from groundswell.grids.cartesian import Grid
from groundswell.simulation import material_classes
from groundswell.solvers.ultrasound.dispersion import absorbing_distance, most_absorbing
from groundswell.solvers.ultrasound.media import MediumDescription, MediumSection, files
from groundswell.solvers.ultrasound.media.case import PROPERTIES
from groundswell.solvers.ultrasound.medium import AcousticMedium, medium_of
from groundswell.solvers.ultrasound.stability import Coefficients, longest_step
from groundswell.solvers.ultrasound.window import Window

pytestmark = pytest.mark.each_value

SKULL = {"bone_hounsfield": 2000.0, "absorption": [2.0, 80.0]}


def random_shapes(rng: np.random.Generator, count: int = 6) -> list[dict[str, Any]]:
    """Overlapping shapes that each change some properties, in part to values that recur."""
    shapes = []
    for _ in range(count):
        low = rng.uniform(-2, 3, 3) * H
        corners = {"low": low.tolist(), "high": (low + rng.uniform(1.2, 5, 3) * H).tolist()}
        values = {
            "speed": rng.choice([1500.0, 1540.3, 2800.7]),
            "density": rng.uniform(900, 2000),
            "absorption": rng.choice([0.1, 4.0]),
            "nonlinearity": 6.0,
        }
        chosen = rng.choice(list(values), rng.integers(1, 4), replace=False)
        shapes.append({"kind": "box", **corners, **{name: float(values[name]) for name in chosen}})
    return shapes


def media(tmp_path: Path, seed: int) -> Iterator[dict[str, Any]]:
    """Sections with shapes, arrays and files of all kinds."""
    rng = np.random.default_rng(seed)
    shapes = random_shapes(rng)
    array = rng.uniform(1400, 1600, [round((b - a) / H) + 1 for a, b in zip(*REGION, strict=True)])
    path = save(tmp_path, model(seed), f"{seed}.nc")
    ct = save(tmp_path, model(seed)[["speed"]].rename(speed="hounsfield") - 1500, f"ct{seed}.nc")
    labels = model(seed)[["speed"]].rename(speed="labels") // 1000
    materials = [{"label": 1, "speed": 2800.0}, {"label": 2, "density": 1850.0, "absorption": 3.0}]
    marked = save(tmp_path, labels, f"labels{seed}.nc")
    yield {}
    yield {"shape": shapes}
    yield {"shape": [*shapes, shapes[0]], "absorption": 0.3}
    yield {"speed": array.T.copy(), "shape": shapes[:2]}
    yield {"density": array.T.copy()}
    yield {"file": properties_file(path), "shape": shapes[:3]}
    yield {"file": {"quantity": "hounsfield", "file": ct, "skull": SKULL}, "shape": shapes[:1]}
    yield {"file": {"quantity": "labels", "file": marked, "material": materials}, "shape": shapes}


def extremes(medium: AcousticMedium) -> dict[str, Any]:
    """What a check reads of a medium, by name."""
    names = ("speed", "density", "absorption", "nonlinearity")
    found: dict[str, Any] = {n: (np.min(v := getattr(medium, n)), np.max(v)) for n in names}
    found["varies"] = [np.ndim(getattr(medium, name)) > 0 for name in names]
    stiffness = np.square(medium.speed) * medium.density
    found["stiffness"] = np.min(stiffness), np.max(stiffness)
    for name in ("tau", "eta"):
        values = getattr(medium, name)
        found[name] = np.min(values), np.max(values), np.max(np.square(medium.speed) * abs(values))
    found["losses"] = medium.is_absorbing, medium.fractional_laplacians, medium.is_nonlinear
    found["step"] = longest_step(Coefficients.of(medium), 2 / H, 1500.0)
    points = most_absorbing(medium)
    found["most absorbing"] = [
        value for point in points for value in (point.speed, point.absorption)
    ]
    return found


@pytest.mark.most(1)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("seed", range(2))
def test_extremes_are_those_of_all_points(tmp_path: Path, seed: int, dtype: str) -> None:
    sections = list(media(tmp_path, seed))
    for power in (1.4, 0.8):
        for keys in sections:
            section = MediumSection(**{**WATER, "power": power, **keys})
            description = MediumDescription(section, AXES, REGION, dtype)
            expected = extremes(description.medium())
            found = extremes(description.representatives)
            tolerance = 1e-6 if dtype == "float32" else 1e-14  # of products, whose order differs
            for name, value in expected.items():
                assert found[name] == pytest.approx(value, rel=tolerance), (name, keys)
            assert found["speed"] == expected["speed"]
            assert found["density"] == expected["density"]


@pytest.mark.most(1)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_number_of_materials_is_that_of_all_points(
    tmp_path: Path, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for keys in media(tmp_path, 9):
        section = MediumSection(**{**WATER, **keys})
        description = MediumDescription(section, AXES, REGION, dtype)
        medium = description.medium()
        points = np.broadcast_arrays(*(getattr(medium, name) for name in PROPERTIES))
        wanted = len(np.unique(np.stack([*map(np.ravel, points)]), axis=1).T)
        assert description.material_count == wanted, keys
        monkeypatch.setattr(material_classes, "MOST", wanted - 1)
        description = MediumDescription(section, AXES, REGION, dtype)
        assert description.material_count is None, keys
        monkeypatch.undo()


def test_the_path_through_strong_absorption_is_that_of_all_points(tmp_path: Path) -> None:
    for keys in [*media(tmp_path, 5), *media(tmp_path, 6)]:
        description = MediumDescription(MediumSection(**{**WATER, **keys}), AXES, REGION, "float64")
        if np.ndim(description.medium().absorption) == 0:
            continue
        absorption = inside(np.asarray(description.medium().absorption))
        strong = absorption >= absorption.max() / 2
        lengths = [
            np.mean([n for n in np.ravel(strong.sum(2 - axis)) if n]) * H * (1 + axis)
            for axis in range(3)
        ]
        grid = Grid(CELLS, (H, 2 * H, 3 * H))
        found = absorbing_distance(description.absorption_in, absorption.max(), grid)
        assert found == pytest.approx(min(lengths), rel=1e-14)


def test_parts_of_ranks_have_the_bits_of_the_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Windows wrap around the grid; files are read a plane or two at a time."""
    nx, ny, nz = cells = tuple(len(at) for at in AXES)
    window = Window(cells, (nx // 2, 0, nz - 2), (nx - nx // 2, ny, 2), (1, 0, 1))
    for keys in media(tmp_path, 7):
        section = MediumSection(**{**WATER, **keys})
        whole = MediumDescription(section, AXES, REGION).medium()
        monkeypatch.setattr("groundswell.solvers.ultrasound.media.files.SLAB", 1)
        found = MediumDescription(section, AXES, REGION).medium_in(window)
        expected = medium_of(whole, window)
        monkeypatch.undo()
        for field in fields(AcousticMedium):
            value, wanted = getattr(found, field.name), getattr(expected, field.name)
            assert np.array_equal(value, wanted), (field.name, keys)
            assert getattr(value, "dtype", None) == getattr(wanted, "dtype", None)


def test_threads_change_no_bit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads find planes at the same time, also in files that are read a few planes at a time."""
    points = np.random.default_rng(9).integers(0, np.prod([len(at) for at in AXES]), 80)
    for keys in media(tmp_path, 8):
        section, found = MediumSection(**{**WATER, **keys}), []
        for threads in (1, 5):
            monkeypatch.setattr(host_threads, "default_threads", lambda count=threads: count)
            monkeypatch.setattr(files, "SLAB", 1)
            description = MediumDescription(section, AXES, REGION)
            whole, chosen = description.medium(), description.representatives
            values = [getattr(each, n) for each in (whole, chosen) for n in PROPERTIES]
            found.append([*values, description.speeds(points)])
        for one, several in zip(*found, strict=True):
            assert np.array_equal(one, several), keys


def test_parts_without_losses_have_the_speed_and_the_density(tmp_path: Path) -> None:
    cells = tuple(len(at) for at in AXES)
    window = Window(cells, (3, 0, cells[2] - 2), (4, cells[1], 3), (2, 0, 1))
    for keys in media(tmp_path, 9):
        description = MediumDescription(MediumSection(**{**WATER, **keys}), AXES, REGION)
        found, expected = description.lossless_in(window), description.medium_in(window)
        for name in ("speed", "density"):
            values, wanted = getattr(found, name), getattr(expected, name)
            assert np.array_equal(np.broadcast_to(values, np.shape(wanted)), wanted)
        assert not found.is_absorbing


def test_speeds_at_points_are_those_of_the_medium(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    for keys in media(tmp_path, 3):
        description = MediumDescription(MediumSection(**{**WATER, **keys}), AXES, REGION)
        speed = np.broadcast_to(description.medium().speed, tuple(len(at) for at in AXES[::-1]))
        points = rng.integers(0, speed.size, 50)
        np.testing.assert_array_equal(description.speeds(points), speed.ravel()[points])


def test_a_shape_without_points_is_refused_without_the_whole_medium() -> None:
    tiny = {"kind": "sphere", "centre": [0.5 * H] * 3, "radius": 1e-6, "speed": 2000.0}
    description = MediumDescription(MediumSection(**WATER, shape=[tiny]), AXES, REGION)
    with pytest.raises(InputError, match="contains no grid point"):
        _ = description.representatives


def test_a_check_builds_neither_the_medium_nor_the_initial_pressure() -> None:
    drop = {"kind": "sphere", "centre": [2.5e-3] * 2, "radius": 1e-3, "speed": 2000.0}
    ball = {"kind": "ball", "centre": [2e-3] * 2, "radius": 1e-3, "pressure": 1e3}
    found = setup(medium__shape=[{**drop, "absorption": 2.0}], initial=ball)
    assert quantities_of(found) and decomposed(found, 2).memory and cost(found).output_bytes
    warnings_of(found)
    assert not {"medium", "initial"} & set(vars(found))
    assert np.ndim(found.medium.speed) == 2 + 1
