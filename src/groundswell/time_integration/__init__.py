"""Explicit time integration: Runge-Kutta schemes and stability limits."""
