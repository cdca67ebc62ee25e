"""Explicit time integration: Runge-Kutta schemes and limits of the step."""
