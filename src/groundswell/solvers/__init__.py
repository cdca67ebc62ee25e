"""The solvers of this package, each in a folder of its own; `registry` finds them."""
