"""The one driver of all solvers: time loop, progress, recorders, checkpoints, alarms."""

from __future__ import annotations

from typing import Any

__all__ = ["Result", "check", "prepare", "run"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'groundswell.run' has no attribute {name!r}")
    from groundswell.run import runner

    return getattr(runner, name)
