"""Writes a case with the phases of a correction beside the original case."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from groundswell.errors import InputError
from groundswell.formats.atomic import atomic_write, exists
from groundswell.formats.text import read_text
from groundswell.formats.toml import toml_text
from groundswell.solvers.ultrasound.aberration import Correction
from groundswell.solvers.ultrasound.case import UltrasoundCase

REPLACED = ("phases", "delays", "steering")
DIGITS = 3


def corrected_name(case: Path, output: str | None) -> Path:
    """The path of the new case, in the folder of the old one, so that its files are found.

    Raises:
        InputError: the name contains a folder, or the file exists.
    """
    path = case.with_name(output or f"{case.stem}_focused{case.suffix}")
    if exists(path):
        raise InputError(f"{path} exists already; give another name with --output, or delete it")
    return path


def write_corrected(
    case: Path, path: Path, correction: Correction, *, amplitudes: bool
) -> UltrasoundCase:
    """Write the case with other phases, and results in a folder of its own.

    Args:
        case: the original case.
        path: the new case.
        amplitudes: whether the new case also has the weights.
    """
    content: dict[str, Any] = tomllib.loads(read_text(case, "a case"))
    for n, source in enumerate(content["source"]):
        for key in REPLACED:
            source.pop(key, None)
        source["phases"] = [round(phase, DIGITS) for phase in correction.phases[n].tolist()]
        if amplitudes:
            source["weights"] = [round(each, DIGITS + 3) for each in correction.weights[n].tolist()]
    output = content.setdefault("output", {})
    output["directory"] = f"{output.get('directory', 'results')}_{path.stem}"
    text = f"# {case.name} with phases that focus.\n{toml_text(content)}"
    found = UltrasoundCase.from_dict(tomllib.loads(text), path.parent, path.name)
    with atomic_write(path) as part:
        part.write_text(text, encoding="utf-8")
    return found
