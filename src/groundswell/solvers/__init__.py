"""The solvers, by the name that a case gives; nothing of a solver is imported before it is used."""

from __future__ import annotations

from importlib import import_module
from importlib.resources import files
from typing import Any, Literal

from groundswell.errors import InputError

SOLVERS: dict[str, dict[str, str]] = {
    "earthquake": {
        "schema": "groundswell.solvers.earthquake.case:EarthquakeCase",
        "solver": "groundswell.solvers.earthquake.solver:Earthquake",
        "words": "groundswell.solvers.earthquake.words:words",
    },
    "cavity": {
        "schema": "groundswell.solvers.cavity.case:CavityCase",
        "solver": "groundswell.solvers.cavity.solver:Cavity",
        "words": "groundswell.solvers.cavity.words:words",
    },
    "poisson": {
        "schema": "groundswell.solvers.poisson.case:PoissonCase",
        "solver": "groundswell.solvers.poisson.run:Run",
        "words": "groundswell.solvers.poisson.words:words",
    },
}


def load(name: str, part: Literal["schema", "solver", "words"]) -> Any:
    """A part of a solver: the class of its case (`schema`), its own, or what finds `words` for it.

    Raises `InputError` if there is no solver called `name`.
    """
    if not isinstance(name, str) or name not in SOLVERS:
        raise InputError(_unknown(name))
    module, _, attribute = SOLVERS[name][part].partition(":")
    return getattr(import_module(module), attribute)


def template(name: str) -> str:
    """The text of a commented case of a solver, to start from.

    Raises `InputError` if there is no solver called `name`.
    """
    if name not in SOLVERS:
        raise InputError(_unknown(name))
    return (files(__name__) / name / "template.toml").read_text(encoding="utf-8")


def _unknown(name: object) -> str:
    from groundswell.case.problems import did_you_mean, listed, show

    return f"no solver is called {show(name)}; use {listed(SOLVERS)}{did_you_mean(name, SOLVERS)}"
