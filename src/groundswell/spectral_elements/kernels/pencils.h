// Lines of nodes of elements in a GPU's shared memory, one line a thread.
#pragma once
#include "reference_element.h"

// Rows along r start in different banks.
constexpr int PITCH = NODES | 1, SHARED_CUBE = PLANE * PITCH;

// A line of nodes along any axis.
struct Pencil {
  real* first;
  int step;

  METHOD real& operator[](int n) const { return first[n * step]; }
  METHOD void load(real (&line)[NODES]) const {
    UNROLL
    for (int n = 0; n < NODES; ++n) line[n] = (*this)[n];
  }
  METHOD void store(const real (&line)[NODES]) const {
    UNROLL
    for (int n = 0; n < NODES; ++n) (*this)[n] = line[n];
  }
};

// The nodes of an element, and the number (slow, fast) of this thread's line along each axis.
struct Cube {
  real* nodes;
  int slow, fast;

  METHOD Pencil along_r() const { return {nodes + (slow * NODES + fast) * PITCH, 1}; }
  METHOD Pencil along_s() const { return {nodes + slow * NODES * PITCH + fast, PITCH}; }
  METHOD Pencil along_t() const { return {nodes + slow * PITCH + fast, NODES * PITCH}; }
};
