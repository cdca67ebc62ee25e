"""From a case to results: set-up, time loop or direct solve, checkpoints, progress, resources."""
