"""Short runs of all solvers against stored values: a change of results does not pass unnoticed."""

from __future__ import annotations

import pytest
import reference_values


@pytest.mark.parametrize("case", reference_values.CASES)
def test_results_are_those_that_are_stored(case: str) -> None:
    """If results are meant to change, `python tests/support/digests.py reference` stores them."""
    found = reference_values.compute(case)
    assert list(reference_values.differences(found, reference_values.read()[case])) == []
