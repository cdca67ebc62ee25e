"""Compilations are counted and announced; what the cache holds is not compiled."""

from __future__ import annotations

from pathlib import Path

import pytest

from groundswell.backends import Source
from groundswell.backends.cache import KernelCache
from groundswell.backends.compilation import compilations
from groundswell.backends.cpu import CpuBackend
from groundswell.backends.source import INCLUDE
from groundswell.simulation.progress import compilation_progress


def test_only_what_is_compiled_counts(tmp_path: Path) -> None:
    backend, counts = CpuBackend(KernelCache(tmp_path)), []
    sources = [Source(INCLUDE / "triad.h", {"SALT": n}) for n in range(3)]
    with compilations.reporting_to(lambda done, begun: counts.append((done, begun))):
        backend.build_all(sources)
    assert counts[0] == (0, 1) and counts[-1] == (3, 3) and len(counts) == 6
    assert all(done <= begun for done, begun in counts)
    with compilations.reporting_to(lambda done, begun: counts.append((-1, -1))):
        backend.build_all(sources)
    assert (-1, -1) not in counts


def test_a_log_says_once_that_kernels_are_compiled(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    backend = CpuBackend(KernelCache(tmp_path))
    for quiet, lines in ((True, 0), (False, 1)):
        with compilation_progress(quiet=quiet):
            for n in range(2):
                backend.build(Source(INCLUDE / "triad.h", {"SALT": 2 * quiet + n}))
        assert capsys.readouterr().err.count("Compiling kernels") == lines
