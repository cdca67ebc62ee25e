"""Runs cases: set-up, time loop or direct solve, checkpoints, progress, resources."""
