"""What the documents compare Groundswell with, rebuilt to be measured beside it.

A package for each subject of `groundswell bench` has a function `extend(benchmark)`, which adds
tables, or rows of other programs to the tables of the solver. See `groundswell.bench.rivals`.
"""
