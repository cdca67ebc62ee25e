"""Pages of the Python interface: all public names of the package, by module."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from groundswell import registry

# What is meant to be used from Python, beside the package itself and the solvers.
MODULES = ("groundswell.exchange", "groundswell.ensembles", "groundswell.errors")
HIDDEN = {"info", "__version__"}


def public_modules() -> list[str]:
    """The modules of the Python interface, in the order of the pages."""
    names = sorted(registry.names(), key=lambda name: name != "earthquake")
    solvers = [registry.find(name).package for name in names]
    return ["groundswell", *solvers, *MODULES]


def public_names(module: str) -> list[str]:
    """The public names of a module: those in `__all__`, or all exceptions that it defines."""
    loaded = import_module(module)
    if hasattr(loaded, "__all__"):
        names = [name for name in loaded.__all__ if name not in HIDDEN]
        return [name for name in names if not _is_module(getattr(loaded, name))]
    return [
        name
        for name, value in vars(loaded).items()
        if isinstance(value, type) and value.__module__ == module and not name.startswith("_")
    ]


def full_names() -> list[str]:
    """All public names with their modules."""
    return [f"{module}.{name}" for module in public_modules() for name in public_names(module)]


def repeated() -> list[str]:
    """Full names of what an earlier module has, too; its first page describes it."""
    seen: set[int] = set()
    found = []
    for module in public_modules():
        for name in public_names(module):
            value = getattr(import_module(module), name)
            if id(value) in seen:
                found.append(f"{module}.{name}")
            seen.add(id(value))
    return found


def _is_module(value: object) -> bool:
    return type(value).__name__ == "module"


def page_name(module: str) -> str:
    """The name of the page of a module, and the one by which users import it."""
    return module.replace("groundswell.solvers.", "groundswell.")


def page(module: str) -> str:
    """The page of a module: its docstring and a summary of its names, each with its own page."""
    title = page_name(module)
    names = "\n".join(f"   {name}" for name in public_names(module))
    return (
        f"{title}\n{'=' * len(title)}\n\n"
        f".. automodule:: {module}\n   :no-members:\n   :no-index:\n\n"
        f".. currentmodule:: {module}\n\n"
        f".. autosummary::\n   :toctree: names\n\n{names}\n"
    )


def write_pages(folder: Path) -> None:
    """Write the page of each module, unless it is unchanged, and an index of all pages."""
    folder.mkdir(parents=True, exist_ok=True)
    for module in public_modules():
        _write(folder / f"{page_name(module)}.rst", page(module))


def _write(path: Path, text: str) -> None:
    if not path.exists() or path.read_text() != text:
        path.write_text(text)
