// Elements of a rank and their faces, as all kernels of this folder see them.
//
// u and r, (elements, PITCH_OF_ELEMENTS): the fields, (FIELDS, CUBE), and the register of the low-storage scheme, padded
// to whole vectors of 16 bytes.
//
// Traces, (TRACE, PLANE), are what faces show to the other side. `neighbours` says where a face finds the
// trace of the other side, and `targets` where it stores its own, by buffer: (3, elements, FACES). Addresses
// are even. An odd entry, less one, is an address in the first half of the rank's own traces, (2, elements,
// FACES), whose halves stages use in turns. 0 is a boundary.
#pragma once
#include "scheme.h"
#include "spectral_elements/kernels/reference_element.h"
#if ELASTIC
#include "elastic.h"
#else
#include "acoustic.h"
#endif

constexpr int FACES = 6, FACE_NODES = FACES * PLANE;
constexpr int VALUES = FIELDS * CUBE, PITCH_OF_ELEMENTS = (VALUES + 3) / 4 * 4;

// Node p of a face. Faces 2 a and 2 a + 1 are normal to axis a; along them, the lower axis is the faster one.
INLINE constexpr int node_of_face(int face, int p) {
  const int slow = p / NODES, fast = p % NODES, end = face % 2 ? NODES - 1 : 0;
  return face < 2   ? (slow * NODES + fast) * NODES + end
         : face < 4 ? (slow * NODES + end) * NODES + fast
                    : (end * NODES + slow) * NODES + fast;
}

struct Elements {
  real *u, *r;
  const Material* materials;
  const Face* faces;
  const long long *neighbours, *targets;
  index_t count;
  long long time;  // of the stage: stages since the start of the run
  int stage;

  METHOD real* trace(const long long* table, int buffer, int half, index_t e, int face) const {
    const long long entry = table[(buffer * count + e) * FACES + face];
    const long long bytes = count * (FACES * TRACE * PLANE * static_cast<int>(sizeof(real)));
    return reinterpret_cast<real*>(entry & 1 ? entry - 1 + half * bytes : entry);
  }
  // The trace of the other side, which the stage before has stored.
  METHOD const real* neighbour(index_t e, int face) const {
    return trace(neighbours, buffer_of(stage), time & 1, e, face);
  }
  METHOD real* target(index_t e, int face) const {
    return trace(targets, buffer_of((stage + 1) % STAGES), (time + 1) & 1, e, face);
  }
};

// What a face reads of the other side at one node; at a boundary, nothing.
struct OtherSide {
  bool exists;
  real trace[TRACE];

  METHOD void load(const real* from, int p) {
    exists = from != nullptr;
    if (!exists) return;
    UNROLL
    for (int n = 0; n < TRACE; ++n) trace[n] = from[n * PLANE + p];
  }
};

// The jump at a node of a face of element e. `value(field)` is this element's at that node.
template <class Values>
INLINE void jump_at(const Elements& all, const Material& m, index_t e, int face, const OtherSide& side,
                    const Values& value, real (&jump)[JUMP]) {
  const Face sides = all.faces[e * FACES + face];
  real own[TRACE], other[TRACE];
  UNROLL
  for (int n = 0; n < TRACE; ++n) {
    own[n] = value(traced_field(face / 2, n));
    other[n] = side.exists ? side.trace[n] : sign_of_mirror(n) * sides.reflection * own[n];
  }
  find_jump(m, sides, face / 2, face % 2 ? REAL(1) : REAL(-1), own, other, jump);
}

#define ELEMENT_ARGUMENTS                                                                      \
  real *u, real *r, const Material *materials, const Face *faces, const long long *neighbours, \
      const long long *targets, index_t elements, const long long *clock
#define ELEMENTS_AT(stage)                                                    \
  {                                                                           \
    u, r, materials, faces, neighbours, targets, elements,                    \
        clock[0] * STAGES + (stage), static_cast<int>(stage)                  \
  }
