"""The mesh of a case: graded and refined bricks under topography, or hexahedra from a file."""
