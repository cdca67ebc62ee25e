"""The one driver of all solvers: time loop, progress, recorders, checkpoints, alarms."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

__all__ = ["Result", "check", "prepare", "run"]


class _Runnable(ModuleType):
    """This package as a function: importing it hides `groundswell.run`, the function, behind it."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """`groundswell.run.run`."""
        from groundswell.run import runner

        return runner.run(*arguments, **options)


sys.modules[__name__].__class__ = _Runnable


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'groundswell.run' has no attribute {name!r}")
    from groundswell.run import runner

    return getattr(runner, name)
