"""The elements: bricks, refined and under topography, or hexahedra from a file.

`RankElements` are those of one rank and their neighbours.
"""
