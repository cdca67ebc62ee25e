"""The hot loops reach a CPU's vector unit. If they did not, only the clock would tell."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from kept_reports import kept_report
from source_collector import solver_sources
from variants import long_variants

from groundswell.backends import cpu
from groundswell.solvers.earthquake.step_source import KERNELS

KINDS = 8  # of rows: along x, y and z in a layer or not


@pytest.mark.parametrize(
    ("precision", "q", "storage"),
    [
        ("single", True, {}),
        ("single", True, {"memory": "half", "materials": "classes"}),
        *long_variants([("double", False, {}), ("double", True, {"materials": "classes"})]),
    ],
    ids=str,
)
def test_every_row_of_the_hot_kernels_is_vectorised(
    tmp_path: Path, precision: str, q: bool, storage: dict[str, str]
) -> None:
    compiler = cpu._compiler()
    if "clang" in cpu._version(compiler):
        pytest.skip("reads the report of GCC")
    source = solver_sources(precision, "pml", "free-surface", q, **storage)[0]
    made_with = (cpu._version(compiler), *cpu.FLAGS, cpu._processor()["features"])
    key = (source.text(), (KERNELS / "sweep.h").read_text(), *made_with)
    loops = kept_report(lambda: vectorised_loops(compiler, source.text(), tmp_path), *key)
    assert len(loops) == 2 * KINDS  # velocity and stress
    assert min(loops) >= 1


def vectorised_loops(compiler: str, text: str, folder: Path) -> list[int]:
    """How many loops of each function that sweeps a row the compiler vectorised."""
    report = folder / "report.txt"
    command = [compiler, *cpu.FLAGS, f"-fopt-info-vec-all={report}", "-x", "c++", "-"]
    subprocess.run([*command, "-o", str(folder / "kernels.so")], input=text, text=True, check=True)
    lines = (KERNELS / "sweep.h").read_text().splitlines()
    place = next(n for n, line in enumerate(lines, 1) if "void sweep_row(" in line)
    note = rf"sweep\.h:{place}:\d+: note: vectorized (\d+) loops in function"
    return [int(count) for count in re.findall(note, report.read_text())]
