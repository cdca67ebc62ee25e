// Elements of a rank and their neighbours, for the kernels of this folder.
//
//   u [elements][FIELDS][CUBE]   the fields
//
// With SEARCH, a kernel searches for the neighbour (GAPS, section 5.3):
//   keys [elements]              Morton keys of the elements' cells, ascending
//   box [2][3]                   number of cells along each axis, and whether the axis is periodic
//
// Otherwise tables contain the neighbours (section 6.2, figure 3):
//   numbers [elements][FACES]    the element beyond each face, or the ghost
//   kinds [elements][FACES]      LOCAL, GHOST or NONE
//   ghosts [ghosts]              address of each ghost's fields, [FIELDS][CUBE]
//   sides [CUBE]                 faces on which each node lies, one bit for each face
#pragma once
#include "solvers/dgwave/kernels/equations.h"
#include "solvers/dgwave/kernels/scheme.h"
#include "spectral_elements/kernels/reference_element.h"
#if ELASTIC
#include "solvers/dgwave/kernels/elastic.h"
#else
#include "solvers/dgwave/kernels/acoustic.h"
#endif

constexpr int FACES = 6, VALUES = FIELDS * CUBE;
constexpr signed char LOCAL = 0, GHOST = 1, NONE = 2;

// Morton keys interleave the bits of the indices of a cell along x, y and z.
INLINE void decode(long long key, long long (&cell)[3]) {
  for (int bit = 0; key >> 3 * bit; ++bit)
    for (int axis = 0; axis < 3; ++axis) cell[axis] |= (key >> (3 * bit + axis) & 1) << bit;
}

INLINE long long encode(const long long (&cell)[3]) {
  long long key = 0;
  for (int bit = 0; (cell[0] | cell[1] | cell[2]) >> bit; ++bit)
    for (int axis = 0; axis < 3; ++axis) key |= (cell[axis] >> bit & 1) << (3 * bit + axis);
  return key;
}

struct Mesh {
  const real* u;
  const Material* materials;
  const Face* faces;
  const long long *keys, *box;
  const int* numbers;
  const signed char* kinds;
  const long long* ghosts;
  const unsigned char* sides;
  index_t count;  // number of elements

  // The fields of the neighbour beyond a face; null at a boundary.
  METHOD const real* neighbour(index_t e, int face) const {
#if SEARCH
    const index_t other = search(e, face);
    return other < 0 ? nullptr : u + other * VALUES;
#else
    const int number = numbers[e * FACES + face];
    const signed char kind = kinds[e * FACES + face];
    if (kind == LOCAL) return u + static_cast<index_t>(number) * VALUES;
    return kind == GHOST ? reinterpret_cast<const real*>(ghosts[number]) : nullptr;
#endif
  }

  // The element beyond a face; -1 at a boundary.
  METHOD index_t search(index_t e, int face) const {
    const int axis = face / 2;
    long long cell[3] = {};
    decode(keys[e], cell);
    cell[axis] += face % 2 ? 1 : -1;
    if (cell[axis] < 0 || cell[axis] == box[axis]) {
      if (!box[3 + axis]) return -1;
      cell[axis] = cell[axis] < 0 ? box[axis] - 1 : 0;
    }
    const long long key = encode(cell);
    index_t low = 0, high = count;
    while (high - low > 1) {
      const index_t middle = (low + high) / 2;
      if (keys[middle] <= key) low = middle;
      else high = middle;
    }
    return low;
  }
};

#define MESH_ARGUMENTS                                                                             \
  const real *u, const Material *materials, const Face *faces, const long long *keys,              \
      const long long *box, const int *numbers, const signed char *kinds, const long long *ghosts, \
      const unsigned char *sides, index_t elements
#define MESH_OF_ARGUMENTS {u, materials, faces, keys, box, numbers, kinds, ghosts, sides, elements}
