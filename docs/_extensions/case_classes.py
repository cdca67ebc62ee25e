"""How the Python reference shows classes of cases; the case reference describes their fields."""

from __future__ import annotations

from typing import Any

from sphinx.application import Sphinx

from groundswell import registry
from groundswell.case import Case

HIDDEN = "canonical, data_files, digest, digest_with_files, model_config, model_post_init, resolve"


def hidden_members() -> dict[str, str]:
    """What not to show of each class of cases, by its full name; "all" of those of solvers."""
    classes = [registry.find(name).load("case") for name in registry.names()]
    return {_name(Case): HIDDEN, **{_name(each): "all" for each in classes}}


def _name(case: type[Case]) -> str:
    """The full name in the reference."""
    solver = case.model_fields["solver"].default
    package = registry.find(solver).package if isinstance(solver, str) else "groundswell"
    return f"{package}.{case.__name__}"


def _shorten(app: Sphinx, what: str, name: str, shown: Any, *_: object) -> tuple[str, str] | None:
    """The signature of a class of cases; that of Pydantic repeats all sections."""
    return ("(**sections)", "") if isinstance(shown, type) and issubclass(shown, Case) else None


def _link(app: Sphinx, what: str, name: str, shown: Any, options: object, lines: list[str]) -> None:
    """Lead from a class of cases to its sections and keys."""
    if isinstance(shown, type) and issubclass(shown, Case) and shown is not Case:
        solver = shown.model_fields["solver"].default
        page = f":doc:`sections and keys </reference/case/{solver}>`"
        lines += ["", f"Its {page} are those of the case file.", ""]


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("autodoc-process-signature", _shorten)
    app.connect("autodoc-process-docstring", _link)
    return {"parallel_read_safe": True}
