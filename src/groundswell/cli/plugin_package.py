"""`groundswell new plugin`: a package with a solver of its own, as a start for another solver.

The package is the example of docs/adding-a-solver.md under another name.
"""

from __future__ import annotations

import keyword
import re
from pathlib import Path

from groundswell import registry
from groundswell.cli.examples import folder_of
from groundswell.errors import InputError, quoted
from groundswell.formats.atomic import atomic_write, exists

PLUGIN = "plugin"  # takes the place of a solver in `groundswell new`
EXAMPLE = "acoustics"


def write_package(name: str) -> Path:
    """Write the package of a solver to a new folder in the working directory; returns the folder.

    Raises:
        InputError: the name is not a lower-case identifier, a solver has it already, or the folder
            exists.
    """
    _require_new(name)
    folder, source = Path(_renamed(f"groundswell-{EXAMPLE}", name)), folder_of("plugin_solver")
    if exists(folder):
        raise InputError(f"{folder} exists already; give another name, or delete it")
    for path in sorted(each for each in source.rglob("*") if _belongs(each)):
        target = folder / _renamed(str(path.relative_to(source)), name)
        target.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(target) as part:
            part.write_text(_renamed(path.read_text(encoding="utf-8"), name), encoding="utf-8")
    return folder


def _require_new(name: str) -> None:
    if not re.fullmatch("[a-z][a-z0-9_]*", name) or keyword.iskeyword(name) or name == PLUGIN:
        raise InputError(
            f"{quoted(name)} cannot be the name of a solver; use lower-case letters, digits and _, "
            "such as shallow_water"
        )
    if name in registry.names():
        raise InputError(f"a solver is called {quoted(name)} already; give another name")


def _belongs(path: Path) -> bool:
    return path.is_file() and path.suffix in {".py", ".h", ".md", ".toml"}


def _renamed(text: str, name: str) -> str:
    """Text with the example's names replaced: of the project, of modules and of classes."""
    words = text.replace(f"groundswell-{EXAMPLE}", f"groundswell-{name.replace('_', '-')}")
    words = words.replace(EXAMPLE, name)
    return words.replace(EXAMPLE.title(), name.title().replace("_", ""))
