"""What makes waves: moment tensors, source time functions, point sources, finite ruptures."""
