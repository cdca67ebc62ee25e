"""Overlaps of the blocks of ranks: which are chosen, what is expected of them, and warnings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from ultrasound_cases import build, setup

from groundswell.errors import InputError
from groundswell.simulation.preparation import check
from groundswell.solvers.ultrasound.medium import AcousticMedium
from groundswell.solvers.ultrasound.overlap_choice import AxisOverlap
from groundswell.solvers.ultrasound.overlap_error import (
    OverlapError,
    SourceLines,
    Wave,
    contrast_of,
    crossing_error,
    harmonic_amplitudes,
    nonlocal_losses,
    source_tail,
)
from groundswell.solvers.ultrasound.point_source import PointSource
from groundswell.solvers.ultrasound.pulses import Pulses, pulses_of
from groundswell.solvers.ultrasound.window import bell, bell_shape, overlap_for

WATER = AcousticMedium(1500.0, 1000.0)
WAVE = Wave(1.0, 1e6, 1e5, 0.05)
SHAPE = (1, 24, 64)  # of the grid, (nz, ny, nx)


def line_source(places: Any, rows: Any, weights: Any = 1.0) -> PointSource:
    """A source at all combinations of places along x and rows, with the weights of the places."""
    x, y = np.meshgrid(places, rows)
    points = np.ravel_multi_index((np.zeros_like(x), y, x), SHAPE).ravel()
    matrix = csr_matrix(np.broadcast_to(weights, x.shape).reshape(-1, 1))
    return PointSource("p", points, np.ones((4, 1)), "additive", matrix)


def tail(source: PointSource, axis: int, overlap: int) -> float:
    lines = [SourceLines.of(source, SHAPE, axis)]
    return source_tail(lines, [0, 32], bell(overlap))


def test_the_tail_of_a_plane_falls_with_the_square_of_its_distance() -> None:
    found = [tail(line_source([32 - d], np.arange(24)), 0, 4) for d in (6, 12)]
    assert found == pytest.approx([1 / 36, 1 / 144])
    mirrored = tail(line_source([31 + 6], np.arange(24)), 0, 4)
    assert mirrored == pytest.approx(1 / 36)


def test_sources_inside_the_bell_count_little_and_smooth_ones_less() -> None:
    plane = line_source([30], np.arange(24))
    assert tail(plane, 0, 16) < 1e-2 * tail(plane, 0, 1)
    smooth = np.exp(-0.5 * ((np.arange(8, 29) - 18) / 3) ** 2)
    assert tail(line_source(np.arange(8, 29), [3], smooth), 0, 4) < 1e-4
    weights = np.random.default_rng(1).uniform(0.5, 1, 21)
    assert tail(line_source(np.arange(8, 29), [3], weights), 0, 4) > 1e-3


def test_causes_fall_with_the_overlap_unless_they_are_not_local() -> None:
    error = OverlapError(1.0, contrast=1.0, harmonics=(0.1, 0.01), losses=0.01)
    near, far = error.causes(16, tail=1e-3), error.causes(32, tail=1e-3)
    assert near["interfaces"] == pytest.approx(4 * far["interfaces"])
    assert near["overlap"] > 1e2 * far["overlap"] and near["harmonics"] > far["harmonics"]
    assert near["sources"] == far["sources"]
    assert far["absorption"] > 0.01 * error.floor


def test_short_waves_and_low_powers_need_more() -> None:
    causes = [OverlapError(k).causes(16)["overlap"] for k in (1.0, 1.5, 2.0)]
    assert causes == sorted(causes)
    losses = [
        nonlocal_losses(AcousticMedium(1500.0, 1000.0, 1e-15 ** (y / 2), y), WAVE)[0]
        / float(1e-15 ** (y / 2) * (2 * np.pi * 1e6) ** y * 1500 / 1e6)
        for y in (0.8, 1.1, 1.5, 1.9)
    ]
    assert losses == sorted(losses, reverse=True)
    assert nonlocal_losses(AcousticMedium(1500.0, 1000.0, 1e-15, 2.0), WAVE)[0] == 0


def burst(cycles: float, per_wavelength: float, courant: float = 0.2) -> list[Pulses]:
    """A smooth burst of some cycles, whose main wave has some points per wavelength."""
    per_sample = 2 * np.pi * courant / per_wavelength
    time = np.arange(round(2 * np.pi * cycles / per_sample))
    signal = np.hanning(len(time)) * np.sin(per_sample * time)
    return pulses_of([PointSource("p", np.array([5]), 3.0 * signal[:, None])], courant)


def test_a_long_burst_counts_as_its_wave_and_a_short_one_as_its_band() -> None:
    wave = OverlapError(2 * np.pi / 5).causes(16)["overlap"]
    long, short, shortest = (
        OverlapError(0.1, pulses=burst(cycles, 5)).causes(16)["overlap"] for cycles in (40, 4, 2)
    )
    assert wave < long < 1.3 * wave and 1.5 * long < short and 2 * short < shortest
    assert burst(40, 5)[0].wavenumber == pytest.approx(2 * np.pi / 5, rel=1e-2)


def test_the_largest_value_of_signals_counts_and_jumps_at_their_ends_do() -> None:
    signals = np.random.default_rng(2).normal(size=(40, 3))
    [pulses] = pulses_of([PointSource("p", np.arange(3), signals)], 0.2)
    assert pulses.largest(np.ones_like) == pytest.approx(1.0)
    assert pulses_of([PointSource("p", np.arange(3), 0 * signals)], 0.2) == []
    [step] = pulses_of([PointSource("p", np.arange(1), np.ones((40, 1)))], 0.2)
    assert OverlapError(0.1, pulses=[step]).causes(16)["overlap"] > 1e-3


def test_frequencies_above_the_highest_of_the_grid_do_not_travel() -> None:
    [fast] = burst(40, 1.5)
    assert OverlapError(0.1, pulses=[fast]).causes(16)["overlap"] < 1e-4
    assert crossing_error(np.array([np.pi + 0.01]), 16) == 0 < crossing_error(np.array([np.pi]), 16)


def test_contrast_and_harmonics() -> None:
    assert contrast_of(WATER) == 0 and harmonic_amplitudes(WATER, WAVE) == ()
    bone = AcousticMedium(np.array([1500.0, 3000.0]), np.array([1000.0, 2000.0]))
    assert contrast_of(bone) == pytest.approx(1.0)
    tissue = AcousticMedium(1500.0, 1000.0, nonlinearity=6.0)
    weak = harmonic_amplitudes(tissue, WAVE)
    sigma = 4 * 2 * np.pi * 1e6 * 1e5 / (1000 * 1500**3) * 0.05
    assert weak[0] == pytest.approx(sigma / 2, rel=0.1)  # of a weak wave
    assert all(np.diff(weak) < 0)


def test_an_overlap_is_as_wide_as_needed() -> None:
    lines = [SourceLines.of(line_source([24], np.arange(24)), SHAPE, 0)]
    axis = AxisOverlap(OverlapError(1.0), lines, [0, 32], 32)
    loose, strict = axis.choose(1e-2, 8, 1.05), axis.choose(1e-3, 8, 1.05)
    assert loose == 8 and axis.estimate(strict) <= 1e-3 < axis.estimate(strict - 1)
    best = axis.choose(1e-9, 8, 1.05)
    assert axis.estimate(best) <= 1.05 * axis.estimate(32)
    assert axis.choose(1e-9, 8, 2.0) <= best


def test_the_bell_is_less_steep_if_long_waves_must_be_kept() -> None:
    assert bell_shape(16) == 3.0
    assert bell_shape(16, 0.5) == pytest.approx(0.5 * np.sqrt(8))
    assert bell_shape(4, 3.0) == bell_shape(4, 3.0) <= bell_shape(4)


def test_the_default_stays_narrow_where_it_gives_the_accuracy() -> None:
    found = setup()
    x, y, z = found.overlaps.of((1, 2, 1))
    assert (x, z) == (0, 0) and overlap_for(1e-3) <= y <= overlap_for(1e-3) + 8
    assert found.overlaps.estimate((1, 2, 1)) <= 1e-3
    assert [*found.overlaps.warnings((1, 2, 1))] == []
    assert found.overlaps.estimate((1, 1, 1)) == 0


TWO_BLOCKS = {"run__processes": [2, 1, 1]}


def asked(accuracy: float, **changes: Any) -> Any:
    """A case for two ranks, next to each other along x, that asks for an accuracy."""
    return build(**TWO_BLOCKS, overlap={"accuracy": accuracy}, **changes)


def test_an_accuracy_that_ranks_cannot_give_is_refused() -> None:
    with pytest.raises(InputError, match=r"overlap\.accuracy") as refusal:
        check(asked(1e-6), 2)
    text = str(refusal.value)
    assert "on 2 ranks, the pressure may differ from that of one rank by" in text
    assert "around sources" in text and "overlap.accuracy = 1e-6" in text and "one rank" in text
    attainable = float(text.split("accept overlap.accuracy = ")[1].split(",")[0])
    accepted = check(asked(attainable), 2)
    assert not any("overlap.accuracy" in t for t in accepted["warnings"])
    quantities = {q["key"]: q for q in accepted["sharing"]["quantities"]}
    assert 1e-6 < quantities["overlap_error"]["value"] <= attainable < 1e-2


def test_the_border_of_refusal_is_the_least_possible_error() -> None:
    widest = setup(**TWO_BLOCKS).grid.cells[0] // 2
    least = setup(**TWO_BLOCKS, overlap={"points": widest}).overlaps.estimate((2, 1, 1))
    check(asked(1.001 * least), 2)
    with pytest.raises(InputError, match=r"accept overlap\.accuracy"):
        check(asked(0.999 * least), 2)


def test_one_rank_and_given_overlaps_are_never_refused() -> None:
    assert not any("overlap" in t for t in check(asked(1e-12), 1)["warnings"])
    given = check(build(**TWO_BLOCKS, overlap={"accuracy": 1e-12, "points": 9}), 2)
    assert not any("overlap.accuracy" in t for t in given["warnings"])


def test_the_default_accuracy_is_only_warned_of() -> None:
    harsh = {"medium__absorption": 8.0, "medium__power": 1.1}
    (text,) = (t for t in check(build(**TWO_BLOCKS, **harsh), 2)["warnings"] if "overlap." in t)
    assert "power closer to 2" in text
    with pytest.raises(InputError, match="power closer to 2"):
        check(asked(1e-3, **harsh), 2)
