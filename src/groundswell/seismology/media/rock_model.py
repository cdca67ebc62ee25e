"""Models of rock on grids, with rules for properties that their files lack."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from groundswell.arrays import Reals
from groundswell.errors import InputError
from groundswell.seismology.media.material import PROPERTIES, UNITS, Material
from groundswell.seismology.media.model_grid import ModelGrid, require_physical_nodes
from groundswell.seismology.media.rules import Q_RULES, RHO_RULES, VS_RULES, Rules


class RockModel:
    """A model on a grid with all properties of rock, from its file or by rules.

    Args:
        grid: the model in the file.
        rules: rules for what it lacks.
        variables: names of the file's variables, by property, if they differ.

    Attributes:
        roles: the properties at nodes.

    Raises:
        InputError: a variable is missing, or has wrong dimensions or an unknown unit.
    """

    def __init__(
        self, grid: ModelGrid, rules: Rules, variables: Mapping[str, str] | None = None
    ) -> None:
        self.grid, self.rules = grid, rules
        self._names = _choose_variables(grid, variables or {}, rules)
        self._factors = {r: grid.check_variable(n, UNITS[r]) for r, n in self._names.items()}
        self.roles = [r for r in PROPERTIES if r in self._names or (r == "vs" and rules.vs)]

    def read(
        self, roles: Collection[str], depths: slice, rows: slice, columns: slice
    ) -> dict[str, Reals]:
        """Properties (depth, y, x) in a window of the model, in SI units, among them vs.

        Raises:
            InputError: the model is unphysical at a node, even if no cell has its value.
        """
        window = (depths, rows, columns)
        stored = [r for r in self._names if r in roles or (r == "vp" and self.rules.vs)]
        values = self.rules.at_nodes(
            {r: self._factors[r] * self.grid.read(self._names[r], *window) for r in stored}
        )
        if {"vp", "vs"} <= values.keys():
            require_physical_nodes(self.grid, values, window)
        return values

    def complete(self, values: Mapping[str, Reals]) -> Material:
        """A material of interpolated properties and those that follow from them by rules."""
        return self.rules.complete(values)

    def describe(self, role: str) -> str:
        """The file and the variable of a property, for messages."""
        return f"{self.grid.path}: variable {self._names.get(role, role)}"


def _choose_variables(grid: ModelGrid, given: Mapping[str, str], rules: Rules) -> dict[str, str]:
    """Name in the file of each property to read."""
    by_rule = ((rules.vs, ("vs",)), (rules.rho, ("rho",)), (rules.q, ("qp", "qs")))
    derived = [role for rule, roles in by_rule if rule is not None for role in roles]
    for rule, roles in by_rule:
        for role in roles:
            if rule is not None and role in given:
                raise InputError(
                    f"medium.variables has {role} = {given[role]!r} and a rule, {rule!r}, makes "
                    f"{role} too; remove one of them"
                )
    names = {role: given.get(role, role) for role in PROPERTIES if role not in derived}
    if not any(q in given or q in grid.variables for q in ("qp", "qs")):
        names = {role: name for role, name in names.items() if role not in ("qp", "qs")}
    missing = [f"{name} (for {role})" for role, name in names.items() if name not in grid.variables]
    if missing:
        raise InputError(
            f"{grid.path} has no variable {', '.join(missing)}; it has "
            f"{', '.join(grid.variables) or 'none'}. {_remedy(grid)}"
        )
    return names


def _remedy(grid: ModelGrid) -> str:
    text = (
        f"{grid.remedy}, or use a rule: medium.vs_rule = {next(iter(VS_RULES))!r}, "
        f"medium.rho_rule = {next(iter(RHO_RULES))!r} or medium.q_rule = {next(iter(Q_RULES))!r}"
    )
    return text[0].upper() + text[1:]
