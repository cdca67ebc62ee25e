"""Values that several ranks hold copies of, told by global ids: gather, scatter, gather-scatter."""
