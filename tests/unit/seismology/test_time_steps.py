"""The choice of the time step of seismic waves, and the sampling of seismograms."""

from __future__ import annotations

import re

import numpy as np
import pytest

from groundswell.case.common import TimeSection
from groundswell.errors import InputError
from groundswell.seismology.time_steps import StableSteps, TimeStep, whole_steps

rng = np.random.default_rng(1857)


def section(step: float | str = "auto", duration: float = 10.0) -> TimeSection:
    return TimeSection.model_validate({"duration": duration, "step": step})


def test_an_automatic_step_is_the_share_of_the_limit() -> None:
    found = TimeStep.choose(section(), StableSteps(0.013, "", share=0.97), None)
    assert (found.dt, found.stride, found.sampling) == (0.97 * 0.013, 1, 0.97 * 0.013)


@pytest.mark.parametrize("limit", rng.uniform(1e-4, 0.5, 5))
def test_an_automatic_step_is_the_longest_one_that_divides_the_interval(limit: float) -> None:
    found = TimeStep.choose(section(), StableSteps(limit, ""), 0.1)
    assert found.sampling == pytest.approx(0.1, rel=1e-14)
    assert found.dt <= limit
    assert found.stride == 1 or 0.1 / (found.stride - 1) > limit


def test_a_given_step_may_reach_the_limit_but_not_exceed_it() -> None:
    stable = StableSteps(0.02, "for big waves; shorten it", share=0.5)
    assert TimeStep.choose(section(0.02), stable, 0.1) == TimeStep(0.02, 5)
    message = "time.step = 0.021 s is unstable: the limit is 0.02 s for big waves; shorten it"
    with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
        TimeStep.choose(section(0.021), stable, None)


def test_seismograms_are_sampled_at_whole_steps() -> None:
    with pytest.raises(InputError, match=r"0\.05 s is not a whole number of steps of 0\.02 s;"):
        TimeStep.choose(section(0.02), StableSteps(0.02, ""), 0.05)
    with pytest.raises(InputError, match=r"takes 1e\+10 steps"):
        TimeStep.choose(section(1e-9), StableSteps(0.02, ""), None)


def test_other_intervals_are_rounded_to_whole_steps() -> None:
    assert [whole_steps(interval, 0.02) for interval in (None, 1e-3, 0.05, 0.052)] == [1, 1, 2, 3]
