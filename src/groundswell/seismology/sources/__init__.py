"""Sources: moment tensors, source time functions, point sources and finite ruptures."""
