"""Lines on the maps of a case: `output.map_lines`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from pydantic import ValidatorFunctionWrapHandler, WrapValidator

from groundswell.case.common import DataFile
from groundswell.case.problems import reject
from groundswell.errors import did_you_mean
from groundswell.seismology.map_lines.files import READERS, allowed
from groundswell.seismology.map_lines.natural_earth import NAMES


def _known(value: Any, existing: ValidatorFunctionWrapHandler) -> str | Path:
    """A name, or the path of an existing file."""
    if isinstance(value, str) and value in NAMES:
        return value
    if isinstance(value, str | Path) and Path(value).suffix.lower() not in READERS:
        reject([((), f"{allowed()}{did_you_mean(value, NAMES)}")])
    path: Path = existing(value)
    return path


MapLines = tuple[Annotated[DataFile, WrapValidator(_known)], ...]
