"""The longest stable step, against the growth of random pressures."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import asin, inf, pi, sqrt
from typing import Any

import numpy as np
import pytest
import ultrasound_cases
from kspace_scheme import KSpaceScheme
from thread_ranks import run_on_threads

from groundswell.backends import host_threads, open_backend
from groundswell.errors import InputError, NotFinite
from groundswell.exchange.communicator import SerialCommunicator
from groundswell.grids.cartesian import Grid
from groundswell.solvers.ultrasound import critical_parts as critical_parts_module
from groundswell.solvers.ultrasound import setup
from groundswell.solvers.ultrasound.absorption import nepers
from groundswell.solvers.ultrasound.critical_parts import critical_parts
from groundswell.solvers.ultrasound.density_contrast import (
    contrast_bound,
    density_contrast,
)
from groundswell.solvers.ultrasound.medium import AcousticMedium, medium_of
from groundswell.solvers.ultrasound.operators import SpectralOperators
from groundswell.solvers.ultrasound.stability import (
    Coefficients,
    DispersionShare,
    longest_step,
    stable_step,
)
from groundswell.solvers.ultrasound.verification import simulation as sim

pytestmark = pytest.mark.each_value

H, SHAPE = 5e-4, (1, 16, 16)
K = pi / H * sqrt(2)
GRID = Grid(SHAPE[::-1], (H,) * 3)
MM = 1e-3


def growth(medium: AcousticMedium, reference_speed: float, dt: float, steps: int = 400) -> float:
    """Largest pressure after some steps, relative to that at the beginning; infinite if NaN."""
    waves = KSpaceScheme(
        SHAPE,
        GRID.spacing,
        dt,
        reference_speed,
        medium.speed,
        medium.density,
        tau=medium.tau if medium.is_absorbing else 0.0,
        eta=medium.eta if medium.is_dispersive else 0.0,
        power=medium.power,
    )
    start = np.random.default_rng(5).standard_normal(SHAPE)
    waves.start(start)
    with np.errstate(all="ignore"):
        for _ in range(steps):
            waves.step()
    found = float(np.abs(waves.p).max() / np.abs(start).max())
    return found if np.isfinite(found) else inf


def bone(speed: float, absorption: float, power: float) -> AcousticMedium:
    return AcousticMedium(speed, 1800.0, float(nepers(absorption, power)), power)


@pytest.mark.most(2)
@pytest.mark.parametrize(
    ("medium", "reference_speed"),
    [
        (AcousticMedium(2000.0, 1000.0), 1500.0),
        (bone(2300.0, 40.0, 2.0), 2800.0),
        (bone(2800.0, 16.0, 2.0), 2800.0),
        (bone(2800.0, 20.0, 1.5), 2800.0),
        (bone(2800.0, 20.0, 1.2), 2400.0),
    ],
)
def test_waves_grow_above_the_limit_only(medium: AcousticMedium, reference_speed: float) -> None:
    limit = longest_step(Coefficients.of(medium), K, reference_speed)
    assert 0 < limit < inf
    assert growth(medium, reference_speed, 0.97 * limit) < 10
    assert growth(medium, reference_speed, 1.03 * limit) > 1e3


def test_lossless_steps_have_the_known_limit() -> None:
    for ratio in (0.5, 0.9, 0.999):
        limit = longest_step(Coefficients.of(AcousticMedium(1500.0, 1000.0)), K, 1500.0 * ratio)
        assert limit == pytest.approx(2 / (1500.0 * ratio * K) * asin(ratio), rel=1e-6)
    assert longest_step(Coefficients.of(AcousticMedium(1500.0, 1000.0)), K, 1500.0) == inf
    slow = np.full((2, 3, 4), 1400.0)
    assert longest_step(Coefficients.of(AcousticMedium(slow, slow)), K, 1500.0) == inf


def test_the_worst_point_of_a_medium_counts() -> None:
    speed, absorption = np.full((2, 2, 2), 1500.0), np.zeros((2, 2, 2))
    speed[0, 0, 0], absorption[0, 0, 0] = 2300.0, float(nepers(40.0, 2.0))
    mixed = longest_step(Coefficients.of(AcousticMedium(speed, 1800.0, absorption)), K, 2800.0)
    assert mixed == pytest.approx(
        longest_step(Coefficients.of(bone(2300.0, 40.0, 2.0)), K, 2800.0), rel=1e-6
    )


# --- a density that varies ------------------------------------------------------------------------


def with_inclusion(background: float, inside: float, shape: Any = SHAPE) -> Any:
    """Values of a medium with some random boxes of another one."""
    values, random = np.full(shape, background), np.random.default_rng(11)
    for _ in range(3):
        low = [int(random.integers(0, max(n - 4, 1))) for n in shape]
        values[tuple(slice(first, first + 4) for first in low)] = inside
    return values


CONTRASTS = {
    "gas": AcousticMedium(1540.0, with_inclusion(1000.0, 1.2)),
    "bone": AcousticMedium(with_inclusion(1500.0, 3000.0), with_inclusion(1000.0, 1900.0)),
    "heavy": AcousticMedium(1500.0, with_inclusion(1000.0, 8000.0)),
    "absorbing bone": AcousticMedium(
        with_inclusion(1500.0, 3000.0),
        with_inclusion(1000.0, 1900.0),
        with_inclusion(0.0, float(nepers(8.0, 1.2))),
        1.2,
    ),
    "random": AcousticMedium(1500.0, np.random.default_rng(3).uniform(300, 3000, SHAPE)),
}


@pytest.mark.most(2)
@pytest.mark.parametrize("name", CONTRASTS)
def test_a_varying_density_shortens_stable_steps(name: str) -> None:
    medium, fastest = CONTRASTS[name], float(np.max(CONTRASTS[name].speed))
    limit = stable_step(medium, GRID, fastest, inf)
    assert limit <= longest_step(Coefficients.of(medium), K, fastest)
    assert growth(medium, fastest, 0.97 * limit) < 100
    # The limit is exact without losses, and on the safe side with them.
    grows = growth(medium, fastest, 1.03 * limit, 800) > 1e3
    assert grows or medium.is_absorbing


@pytest.mark.parametrize("name", CONTRASTS)
def test_steps_below_the_bound_need_no_eigenvalue(name: str) -> None:
    medium, fastest = CONTRASTS[name], float(np.max(CONTRASTS[name].speed))
    proved = longest_step(Coefficients.of(medium), K, fastest, contrast_bound(medium))
    assert stable_step(medium, GRID, fastest, 0.0) == proved
    assert proved <= stable_step(medium, GRID, fastest, inf)


@pytest.mark.most(1)
@pytest.mark.parametrize("shape", [(1, 240, 220), (36, 40, 44)])
def test_parts_of_a_grid_have_nearly_its_contrast(shape: tuple[int, int, int]) -> None:
    """The automatic step is 10 % shorter than the limit: 5 % suffice."""
    grid = Grid(shape[::-1], (H, 1.2 * H, 0.9 * H))
    inside, speed = with_inclusion(1000.0, 1.2, shape), with_inclusion(1500.0, 340.0, shape)
    medium, operators = AcousticMedium(speed, inside), SpectralOperators(grid, 1e-7, 1500.0)
    parts = critical_parts(partial(medium_of, medium), grid, SerialCommunicator())
    found = max(density_contrast(around, operators, part, 1500.0) for part, around in parts)
    whole = density_contrast(medium, operators)
    assert 1 < found <= whole * 1.01 <= contrast_bound(medium)
    assert sqrt(found) == pytest.approx(sqrt(whole), rel=0.05)


@pytest.mark.parametrize("speeds", [[1500.0], [1500.0, 1600.0]])
@pytest.mark.parametrize("shape", [(1, 45, 33), (20, 26, 31)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("ranks", [1, 2])
def test_critical_points_are_those_of_the_largest_diagonal_elements(
    shape: tuple[int, int, int],
    speeds: list[float],
    dtype: str,
    ranks: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """There is one point in each tile, whatever the order in which threads and ranks find them.

    So many are wanted that some lie in tiles of a uniform medium if the sound speed is uniform.
    """
    for name, value in {"TILES": {2: 7, 3: 7}, "PARTS": {2: 25, 3: 40}}.items():
        monkeypatch.setattr(critical_parts_module, name, value)
    monkeypatch.setattr(host_threads, "default_threads", lambda: 4)
    grid = Grid(shape[::-1], (H, 1.2 * H, 0.9 * H))
    rng = np.random.default_rng(12)
    density = np.where(with_inclusion(0.0, 1.0, shape) > 0, rng.uniform(5, 50, shape), 1000.0)
    medium = AcousticMedium(rng.choice(speeds, shape), density.astype(dtype).astype(float))
    given = replace(medium, speed=medium.speed.astype(dtype), density=medium.density.astype(dtype))
    search = partial(critical_parts_module._largest_diagonals, partial(medium_of, given), grid)
    found, *others = run_on_threads(ranks, search)
    assert all(other == found for other in others)
    elements = diagonal(medium, grid)
    tiles: dict[tuple[int, ...], list[tuple[float, tuple[int, ...]]]] = {}
    for place in np.ndindex(shape):
        tile = tuple(n // 7 for n in place)
        tiles.setdefault(tile, []).append((float(elements[place]), place[::-1]))
    largest = sorted((max(each, key=lambda e: e[0]) for each in tiles.values()), reverse=True)
    assert found == [place for _, place in largest[: len(found)]] and len(found) >= 25


def diagonal(medium: AcousticMedium, grid: Grid) -> Any:
    """Diagonal elements of A, without the k-space correction: sums over velocity points."""
    total = np.zeros(grid.shape)
    for axis in range(3 if grid.cells[2] > 1 else 2):
        dimension = 2 - axis
        after = (medium.density + np.roll(medium.density, -1, dimension)) / 2
        for n in range(3):
            weight = (4 / pi / (2 * n + 1) ** 2 / grid.spacing[axis]) ** 2
            pair = np.roll(1 / after, -n, dimension), np.roll(1 / after, n + 1, dimension)
            total += weight * sum(pair)
    return total * np.square(medium.speed) * medium.density


def test_a_gas_does_not_make_default_steps_unstable() -> None:
    """A bubble of four points needs a Courant number below 0.29; the default is 0.3."""
    density = np.full((64, 64), 1000.0)
    density[30:34, 30:34] = 1.2
    start = {"kind": "gaussian", "centre": [3e-3, 3e-3, 0.0], "width": 2e-4, "pressure": 1e5}
    case = sim.make_case(
        grid={"points": [64, 64], "spacing": 1e-4},
        medium={"speed": 1540.0, "density": density},
        initial=start,
        time={"duration": 2e-5},
    )
    found = sim.build(case, open_backend("cpu"))
    sim.advance(found, found.setup.steps)
    assert found.setup.dt * 1540 / 1e-4 < 0.27
    assert np.abs(sim.pressure(found)).max() < 1e5
    step = case.model_copy(update={"time": case.time.model_copy(update={"step": 2.1e-8})})
    with pytest.raises(InputError, match=r"densities from 1.2 to 1000 .* at most 1.9.*e-08 s"):
        sim.build(step, open_backend("cpu"))


def test_a_failure_names_where_the_pressure_grew(monkeypatch: pytest.MonkeyPatch) -> None:
    """One value that is infinite makes all values NaN in the next step."""
    monkeypatch.setattr(setup, "stable_step", lambda *_, **__: inf)
    density = np.full((48, 48), 1000.0)
    density[30:34, 20:24] = 1.2
    start = {"kind": "gaussian", "centre": [1e-3, 1e-3, 0.0], "width": 2e-4, "pressure": 1e5}
    case = sim.make_case(
        grid={"points": [48, 48], "spacing": 1e-4},
        medium={"speed": 1540.0, "density": density},
        initial=start,
        time={"duration": 2e-5, "step": 2e-8},
    )
    found = sim.build(case, open_backend("cpu"))
    with pytest.raises(
        NotFinite, match=r"^p is [0-9.]+e\+\d+ at x = 0.00[12]\d* m, y = 0.003\d* m"
    ):
        for _ in range(6):
            sim.advance(found, 50)
            found.enqueue_finite_check()
            found.check_health(50)


# --- dispersion that exceeds the stiffness --------------------------------------------------------


@pytest.mark.most(1)
@pytest.mark.parametrize("power", [0.3, 0.99, 2.5])
def test_waves_grow_if_dispersion_exceeds_the_stiffness(power: float) -> None:
    unit = DispersionShare.of(AcousticMedium(1500.0, 1000.0, 1.0, power), GRID).largest
    for share in (0.95, 2.0):
        medium = AcousticMedium(1500.0, 1000.0, share / unit, power)
        assert DispersionShare.of(medium, GRID).waves_grow == (share > 1)
        dt = min(0.5 * stable_step(medium, GRID, 1500.0, inf), 0.3 * H / 1500.0)
        assert (growth(medium, 1500.0, dt, 600) > 10) == (share > 1)


@pytest.mark.most(1)
@pytest.mark.parametrize("power", [1.001, 1.5])
def test_dispersion_adds_to_the_stiffness_between_powers_1_and_2(power: float) -> None:
    medium = AcousticMedium(1500.0, 1000.0, float(nepers(5.0, power)), power)
    limit = stable_step(medium, GRID, 1500.0, inf)
    assert DispersionShare.of(medium, GRID).largest == 0
    assert growth(medium, 1500.0, 0.97 * limit) < 30
    assert growth(medium, 1500.0, 1.03 * limit) > 1e3


def test_a_case_whose_waves_grow_is_refused() -> None:
    with pytest.raises(InputError, match=r'power 0.99 .*effects = \["absorption"\]'):
        ultrasound_cases.setup(medium__absorption=5.0, medium__power=0.99)
    ultrasound_cases.setup(
        medium__absorption=5.0, medium__power=0.99, medium__effects=["absorption"]
    )


def test_long_waves_may_not_grow_if_few_points_are_dispersive() -> None:
    uniform = AcousticMedium(1500.0, 1000.0, 1.0, 0.9)
    share = DispersionShare.of(uniform, GRID)
    weak = replace(uniform, absorption=1 / sqrt(share.longest * share.shortest))
    assert DispersionShare.of(weak, GRID).waves_grow
    part = replace(weak, absorption=np.where(with_inclusion(0.0, 1.0) > 0, weak.absorption, 0.0))
    found = DispersionShare.of(part, GRID)
    assert found.largest > 1 and not found.waves_grow
