"""Compilations are counted and announced; what the cache holds is not compiled."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest

from groundswell.backends import Items, Source
from groundswell.backends.cache import KernelCache
from groundswell.backends.compilation import compilations
from groundswell.backends.cpu import CpuBackend
from groundswell.backends.source import INCLUDE, precision
from groundswell.backends.threads import team_source
from groundswell.errors import BackendError
from groundswell.simulation.progress import phase_progress


def compile_all(backend: CpuBackend, sources: list[Source]) -> None:
    for source in sources:
        backend.compile(source).launch("touch", Items(0), backend.zeros((1,), np.float64), 0)
    backend.finish_compiling()


def test_only_what_is_compiled_counts(tmp_path: Path) -> None:
    backend, counts = CpuBackend(KernelCache(tmp_path)), []
    backend.build(team_source())
    sources = [Source(INCLUDE / "triad.h", {"SALT": n}) for n in range(3)]
    with compilations.reporting_to(lambda done, begun: counts.append((done, begun))):
        compile_all(backend, sources)
    assert counts[0] == (0, 1) and counts[-1] == (3, 3) and len(counts) == 6
    assert all(done <= begun for done, begun in counts)
    with compilations.reporting_to(lambda done, begun: counts.append((-1, -1))):
        compile_all(backend, sources)
    assert (-1, -1) not in counts


def test_a_log_says_once_that_kernels_are_compiled(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    backend = CpuBackend(KernelCache(tmp_path))
    for quiet, lines in ((True, 0), (False, 1)):
        with phase_progress("Building", quiet=quiet):
            for n in range(2):
                backend.build(Source(INCLUDE / "triad.h", {"SALT": 2 * quiet + n}))
        assert capsys.readouterr().err.count("Compiling kernels") == lines


def test_sources_compile_in_parallel_and_launches_wait(tmp_path: Path) -> None:
    backend = CpuBackend(KernelCache(tmp_path))
    started, all_started = [], threading.Barrier(2, timeout=60)
    build = backend.build

    def wait_for_the_other(source: Source) -> Path:
        if source == team_source():
            return build(source)
        started.append(source)
        all_started.wait()  # breaks if builds follow one another
        return build(source)

    backend.build = wait_for_the_other  # type: ignore[method-assign]
    a, b, c = (np.full(5, value) for value in (0.0, 1.0, 2.0))
    triads = [
        backend.compile(Source(INCLUDE / "triad.h", {"SALT": n, **precision(a.dtype)})).launch(
            "triad", Items(5), a, b, c, 5
        )
        for n in range(2)
    ]
    triads[0]()
    assert len(started) == 2 and (a == b + 3 * c).all()


def test_errors_of_the_compiler_are_not_lost(tmp_path: Path) -> None:
    backend = CpuBackend(KernelCache(tmp_path))
    wrong = tmp_path / "wrong.h"
    wrong.write_text("KERNEL nothing(")
    launch = backend.compile(Source(wrong, {})).launch
    for use in (lambda: launch("nothing", Items(1))(), backend.finish_compiling):
        with pytest.raises(BackendError, match="could not compile a kernel"):
            use()
