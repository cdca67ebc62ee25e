"""Hexahedral meshes: boxes, unstructured meshes, Gmsh files, and how to partition them."""
