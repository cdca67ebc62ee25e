"""What tests of compiled kernels share."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest


@pytest.fixture(params=("sm_80", "sm_90"))
def check(request: pytest.FixtureRequest) -> Callable[..., None]:
    """Compiles a source for an architecture; see `require_limits`.

    A quick run compiles each kernel for both, but not each of its variants.
    """
    from compiled_kernels import require_limits

    return partial(require_limits, request.param)
