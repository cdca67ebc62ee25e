"""Fits that an earlier process has stored."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from groundswell.seismology.attenuation_fit import _fit, fit
from groundswell.seismology.fit_cache import cached_numbers

NUMBERS = np.random.default_rng(3).standard_normal(7) * 10.0 ** np.arange(-3, 4)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GROUNDSWELL_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_numbers_are_computed_once_for_the_same_arguments_and_code(tmp_path: Path) -> None:
    calls, source = [], tmp_path / "code.py"

    def compute() -> np.ndarray:
        calls.append(1)
        return NUMBERS

    for arguments, text in (("a", "1"), ("a", "1"), ("b", "1"), ("b", "2")):
        source.write_text(text)
        assert np.array_equal(cached_numbers([arguments], [str(source)], compute), NUMBERS)
    assert len(calls) == 3


@pytest.mark.parametrize("damage", ["", "[1, 2", '["text"]'])
def test_a_damaged_entry_or_a_cache_that_cannot_be_written(
    damage: str, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cached_numbers([], [], lambda: NUMBERS)
    [entry] = cache.glob("*.json")
    entry.write_text(damage)
    assert np.array_equal(cached_numbers([], [], lambda: NUMBERS), NUMBERS)
    monkeypatch.setenv("GROUNDSWELL_CACHE", "/dev/null/cache")
    assert np.array_equal(cached_numbers([], [], lambda: NUMBERS), NUMBERS)


def test_a_stored_fit_has_the_same_bits(cache: Path) -> None:
    found = []
    for _ in range(2):
        _fit.cache_clear()
        found.append(fit("power-law", 0.4, band=(0.2, 2.0), minimum_q=20.0, mechanisms=3))
    assert len([*cache.glob("*.json")]) == 1
    assert np.array_equal(found[0].tau, found[1].tau) and found[0].error == found[1].error
    assert np.array_equal(found[0].coefficients, found[1].coefficients)
