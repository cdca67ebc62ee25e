"""Bandwidths of memory that runs keep for later ones."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from groundswell.backends import open_backend
from groundswell.exchange.communicator import SerialCommunicator
from groundswell.simulation.bandwidths import (
    MOST,
    VALID,
    KeptBandwidth,
    describe_device,
    kept_bandwidth,
    shared_bandwidth,
)

DEVICES = [["cpu", "a processor, 2 threads", "1000000"]]
ORIGINAL = {name: getattr(KeptBandwidth, name) for name in ("read", "add")}


@pytest.fixture(autouse=True)
def _kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep bandwidths, which other tests do not."""
    for name, function in ORIGINAL.items():
        monkeypatch.setattr(KeptBandwidth, name, function)


@pytest.fixture
def kept(tmp_path: Path) -> KeptBandwidth:
    return KeptBandwidth(DEVICES, tmp_path)


def test_runs_measure_until_two_results_agree(kept: KeptBandwidth) -> None:
    """The largest counts, since other programs can only lower a result."""
    assert kept.read() is None
    assert [kept.add(rate) for rate in (8.9e9, 10e9)] == [8.9e9, 10e9]
    assert kept.read() is None
    assert kept.add(9.1e9) == 10e9
    assert kept.read() == 10e9


def test_a_busy_machine_is_not_measured_for_ever(kept: KeptBandwidth) -> None:
    for n in range(MOST):
        assert kept.read() is None
        kept.add(1e9 * 2**n)
    assert kept.read() == 1e9 * 2 ** (MOST - 1)


def test_a_new_measurement_on_request_replaces_all_others(kept: KeptBandwidth) -> None:
    for rate in (10e9, 10e9):
        kept.add(rate)
    assert kept.add(5e9, again=True) == 5e9
    assert kept.read() is None


def test_other_devices_have_bandwidths_of_their_own(kept: KeptBandwidth, tmp_path: Path) -> None:
    for rate in (10e9, 10e9):
        kept.add(rate)
    assert KeptBandwidth(DEVICES * 2, tmp_path).read() is None


def test_old_results_count_no_longer(kept: KeptBandwidth, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of machines that are measured no more are removed."""
    other = KeptBandwidth(DEVICES * 2, kept.folder)
    for each in (kept, kept, other):
        each.add(10e9)
    now = time.time()
    monkeypatch.setattr("time.time", lambda: now + VALID + 1)
    assert kept.read() is None
    assert kept.add(4e9) == 4e9
    assert kept.path.exists() and not other.path.exists()


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", '{"since": 0, "rates": [-1, -1]}', '{"rates": 3}']
)
def test_a_damaged_file_is_as_none(kept: KeptBandwidth, text: str) -> None:
    kept.path.write_text(text)
    assert kept.read() is None
    assert kept.add(3e9) == 3e9


def test_a_cache_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    kept = KeptBandwidth(DEVICES, tmp_path / "file" / "folder")
    assert kept.add(3e9) == 3e9
    assert kept.read() is None


def test_later_runs_do_not_measure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDSWELL_CACHE", os.fspath(tmp_path))
    backend, rates = open_backend("cpu"), iter([5e9, 5e9, 7e9])
    monkeypatch.setattr(backend, "measure_bandwidth", lambda: next(rates))
    assert [kept_bandwidth(backend) for _ in range(4)] == [5e9] * 4
    assert shared_bandwidth(backend, SerialCommunicator()) == 5e9
    assert shared_bandwidth(backend, SerialCommunicator(), again=True) == 7e9


def test_threads_and_the_compiler_distinguish_devices() -> None:
    one, two = (describe_device(open_backend("cpu", threads=n)) for n in (1, 2))
    assert one != two
    assert any("compiler" in part for part in one)
