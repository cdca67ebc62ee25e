"""The materials of elements: averages and values at nodes, from the media of a case."""
