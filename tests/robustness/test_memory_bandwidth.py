"""What commands say of the memory bandwidth, on machines with caches of different sizes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from command_output import unwrapped

from groundswell.backends.cpu import CpuBackend
from groundswell.cli import main

pytestmark = pytest.mark.timeout(120)

HUGE = 2**40  # bytes
Output = Callable[..., str]


@pytest.fixture
def output(
    write_case: Callable[..., Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Output:
    """What a command prints of a small case on a processor with a cache of so many bytes."""

    def run(command: str, *options: str, cache: int) -> str:
        monkeypatch.setattr("groundswell.backends.cpu.host_cache", lambda _: cache)
        assert main([command, str(write_case(tmp_path)), *options]) == 0
        return unwrapped(capsys.readouterr().out)

    return run


@pytest.mark.parametrize(
    ("cache", "expected"),
    [(HUGE, "through the caches, which hold all data"), (0, "1 kB/s measured before")],
)
def test_a_run_faster_than_memory_shows_no_percentage(
    output: Output, monkeypatch: pytest.MonkeyPatch, cache: int, expected: str
) -> None:
    """In the caches, none is measured."""

    def measure(self: CpuBackend) -> float:
        return pytest.fail("it takes longer than the run") if cache else 1000.0

    monkeypatch.setattr(CpuBackend, "measure_bandwidth", measure)
    text = output("run", "--no-pictures", cache=cache)
    traffic = text[: text.index("wall time")]
    assert expected in traffic and "%" not in traffic


@pytest.mark.parametrize(("cache", "expected"), [(HUGE, "or less"), (0, "run time at least")])
def test_a_run_in_the_caches_may_beat_the_memory(output: Output, cache: int, expected: str) -> None:
    text = output("check", cache=cache)
    assert expected in text
    assert ("at least" in text) is (cache == 0)
