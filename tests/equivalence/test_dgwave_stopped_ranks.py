"""Stopped runs of DG waves continue on any number of ranks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from dgwave_rank_cases import MEDIA, VARIANTS
from ranks import run_on_ranks
from result_comparison import assert_same_results
from small_cases import write_small_case
from toml_text import toml
from variants import long_variants

import groundswell as gs

pytestmark = pytest.mark.timeout(300)


INTERRUPTED = Path(__file__).parents[1] / "support" / "interrupted_run_program.py"


# Elements of the small case otherwise than bricks of one size with attenuation and matched layers.
SLOPE = {"topography": {"kind": "formula", "elevation": "100 + x / 20 + 30 * sin(y / 200)"}}
BOX = {"size": [1200, 1200, 900], "spacing": [[500, 300, 400], 300, [300, 200, 400]]}
HALVED = {
    "medium": MEDIA["soft"] | dict.fromkeys(("vp", "vs", "rho", "qp", "qs")),
    "refinement": {"frequency": 5, "levels": 1},
    "time": {"duration": 0.4, "step": 0.004},
}


@pytest.mark.parametrize(
    ("wrote", "resumes", "changes"),
    [
        (2, 1, {}),
        *long_variants(
            [
                (2, 3, SLOPE),
                (2, 1, {"grid": BOX}),
                (1, 3, {}),
                (3, 2, HALVED),
                (2, 5, {}),
                (3, 1, SLOPE),
                (1, 2, HALVED),
            ]
        ),
    ],
)
def test_stopped_runs_continue_on_any_number_of_ranks(
    tmp_path: Path, wrote: int, resumes: int, changes: dict[str, Any]
) -> None:
    """With attenuation and matched layers."""
    case = write_small_case(tmp_path, "dgwave", **changes)
    check_stopped_run(case, wrote, resumes)


AGEING = {**VARIANTS["yielding mesh fault"], "fault": VARIANTS["mesh fault"]["fault"]}


@pytest.mark.full
@pytest.mark.parametrize(
    ("wrote", "resumes", "content", "time"),
    [
        (2, 3, AGEING, (0.24, 0.004)),
        *long_variants(
            [
                (2, 3, VARIANTS["yielding"], (0.16, 0.002)),
                *((3, 1, VARIANTS[name], (0.36, 0.004)) for name in ("fault", "mesh fault")),
            ]
        ),
    ],
)
def test_stopped_ruptures_and_yielding_continue(
    tmp_path: Path, wrote: int, resumes: int, content: Any, time: tuple[float, float]
) -> None:
    """Slip, the state of friction, rupture times and plastic strain go on."""
    case, times = tmp_path / "case.toml", dict(zip(("duration", "step"), time, strict=True))
    whole = {"title": "stopped", **content, "time": times}
    case.write_text("\n".join(f"{key} = {toml(value)}" for key, value in whole.items()))
    check_stopped_run(case, wrote, resumes)


def check_stopped_run(case: Path, wrote: int, resumes: int) -> None:
    """A run stops on so many ranks, and goes on with others to the results of one rank."""
    tmp_path = case.parent
    reference = gs.run(case, folder=tmp_path / "whole").folder
    arguments = ("run", case, "-q", "--no-pictures")
    stopped = run_on_ranks(wrote, INTERRUPTED, "SIGTERM", str(wrote - 1), "15", *arguments)
    assert stopped.returncode == 130, stopped.stderr
    assert stopped.stderr.count("stopped by SIGTERM after step") == 1
    never = ("SIGTERM", "-1", "0")
    resumed = run_on_ranks(resumes, INTERRUPTED, *never, *arguments, "--resume")
    assert resumed.returncode == 0, resumed.stderr
    summary = json.loads((tmp_path / "results" / "summary.json").read_text())
    assert 0 < summary["resumed_at"] < summary["steps"]
    assert_same_results(tmp_path / "results", reference)
