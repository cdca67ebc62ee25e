// Elements of a rank and their faces, for all kernels of this folder.
//
// u and r, (elements, PITCH_OF_ELEMENTS): the fields, (FIELDS, CUBE), and the register of the
// low-storage scheme, padded to whole vectors of 16 bytes.
//
// A trace, (TRACE, PLANE), contains the values of a face that the other side needs. The tables have
// an entry for each buffer and face, (3, elements, FACES): the address from which a face reads the
// trace of the other side (`neighbours`) or at which it stores its own (`targets`). Addresses are
// multiples of 4; the low bits of an entry are flags:
// - 1: the address is in the first half of the rank's own traces, (2, slots); stages use the two
//   halves in turn;
// - 2: the address is that of a jump, (JUMP, PLANE), which a mortar kernel has computed.
// An entry of 0 means a boundary.
//
// With NODAL, materials vary from node to node: moduli and impedances are tables of nodes. The
// other values of `Material` and `Face` still belong to elements and faces.
#pragma once
#include "equations.h"  // before the branches: a header is inserted once
#include "scheme.h"
#include "spectral_elements/kernels/reference_element.h"
#if CURVED
#include "curved.h"
#endif
#if ELASTIC
#include "elastic.h"
#else
#include "acoustic.h"
#endif
#if !CURVED
// Traces of bricks refer to the axes, not to normals.
INLINE constexpr int sign_of_other(int) { return 1; }
#endif
#include "attenuation.h"
#include "matched_layers.h"

#if NODAL
typedef Flux FaceEntry;  // entry of the table of faces
#else
typedef Face FaceEntry;
#endif

constexpr int FACES = 6, FACE_NODES = FACES * PLANE;
constexpr int VALUES = FIELDS * CUBE, PITCH_OF_ELEMENTS = (VALUES + 3) / 4 * 4;

// Node p of a face. Faces 2 a and 2 a + 1 are normal to axis a; the lower of the other two axes
// varies fastest.
INLINE constexpr int node_of_face(int face, int p) {
  const int slow = p / NODES, fast = p % NODES, end = face % 2 ? NODES - 1 : 0;
  return face < 2   ? (slow * NODES + fast) * NODES + end
         : face < 4 ? (slow * NODES + end) * NODES + fast
                    : (end * NODES + slow) * NODES + fast;
}

struct Elements {
  real *u, *r;
  const Material* materials;
  const FaceEntry* faces;
  const long long *neighbours, *targets;
  index_t count, slots;  // number of elements, and of traces in each half of the rank's own traces
  long long time;        // number of stages since the start of the run
  int stage;
#if MECHANISMS
  Memory memory;
#endif
#if MATCHED
  MatchedLayers layers;
#endif
#if NODAL
  const real* moduli;      // at the nodes, (elements, MODULI, CUBE)
  const real* impedances;  // on the other side of faces, (elements, FACES, IMPEDANCES, PLANE)

  // The moduli of a node or, if a Value covers several nodes, of the nodes from `node` on. `load`
  // reads them.
  template <class Value, class Load>
  METHOD Moduli<Value> moduli_at(const Material&, index_t e, int node, const Load& load) const {
    return load_moduli<Value>(moduli + e * (MODULI * CUBE) + node, load);
  }
#else
  template <class Value, class Load>
  METHOD const Moduli<real>& moduli_at(const Material& m, index_t, int, const Load&) const {
    return m;
  }
#endif
#if CURVED
  const real* metrics;  // see curved.h
  const int* turns;     // orientation of traces, (elements, FACES), see `turned`; 0 for jumps

  METHOD const real* metrics_of(index_t e) const { return metrics + e * METRICS * CUBE; }
#endif

  // Address of a table entry for the traces that this stage reads or, if `next`, stores.
  METHOD real* locate(long long entry, bool next) const {
    const long long bytes = slots * (TRACE * PLANE * static_cast<int>(sizeof(real)));
    return reinterpret_cast<real*>(entry & 1 ? entry - 1 + ((time + next) & 1) * bytes : entry);
  }
  // Entries of an element's faces for the traces that this stage reads, and for those that it
  // stores.
  METHOD const long long* neighbours_of(index_t e) const {
    return entries(neighbours, buffer_of(stage), e);
  }
  METHOD const long long* targets_of(index_t e) const {
    return entries(targets, buffer_of((stage + 1) % STAGES), e);
  }
  METHOD const long long* entries(const long long* table, int buffer, index_t e) const {
    return table + (buffer * count + e) * FACES;
  }
};

// An entry without the flag that marks a jump.
INLINE long long trace_of(long long entry) { return GIVEN_JUMPS && entry & 2 ? entry - 2 : entry; }

// The values that a face reads at one node: the trace of the other side, a jump, or nothing at a
// boundary.
struct OtherSide {
  const FaceEntry* face;  // in `faces`, or a copy
  long long entry;
  real values[TRACE];
#if NODAL
  Impedances impedances;

  METHOD void load_impedances(const Elements& all, index_t e, int face, int p) {
    impedances = impedances_from(all.impedances + (e * FACES + face) * (IMPEDANCES * PLANE) + p);
  }
#endif
  static_assert(!GIVEN_JUMPS || JUMP == TRACE, "mortars compute velocity and traction");

  METHOD void load(const Elements& all, index_t e, int face, int p) {
    entry = all.neighbours_of(e)[face];
#if NODAL
    load_impedances(all, e, face, p);
#endif
    if (!entry) return;
    const real* const from = all.locate(trace_of(entry), false);
#if CURVED
    p = turned(p, all.turns[e * FACES + face]);
#endif
    UNROLL
    for (int n = 0; n < TRACE; ++n) values[n] = from[n * PLANE + p];
  }
};

// The trace of this side at a node of a face.
struct OwnSide {
  real values[TRACE];
#if CURVED
  Normal normal;

  // column(n): the differentiated values at the node.
  template <class Columns>
  METHOD void load_columns(const Elements& all, index_t e, int face, int node,
                           const Columns& column) {
    normal = normal_at(all.metrics_of(e), face, node);
    find_trace(face / 2, face % 2 ? REAL(1) : REAL(-1), normal, column, values);
  }
#endif

  // value(field): the fields at the node.
  template <class Values>
  METHOD void load(const Elements& all, index_t e, int face, int node, const Values& value) {
#if CURVED
    normal = normal_at(all.metrics_of(e), face, node);
    find_trace(normal.along, value, values);
#else
    UNROLL
    for (int n = 0; n < TRACE; ++n) values[n] = value(traced_field(face / 2, n));
#endif
  }

  METHOD void store(real* target, int p) const {
    UNROLL
    for (int n = 0; n < TRACE; ++n) target[n * PLANE + p] = values[n];
  }
};

#if defined(__CUDACC__)
struct FlushDenormals {};  // GPUs compute with denormal numbers at full speed
#endif

// Stores the traces of an element that the next stage reads.
INLINE void store_traces_of(const Elements& all, index_t e) {
  FOR_THREADS(at, FACE_NODES) {
    const int face = at / PLANE, p = at % PLANE;
    real* const target = all.locate(all.targets_of(e)[face], true);
    if (target) {
      const int node = node_of_face(face, p);
      const real* const u = all.u + e * PITCH_OF_ELEMENTS + node;
      OwnSide own;
      own.load(all, e, face, node, [&](int field) { return u[field * CUBE]; });
      own.store(target, p);
    }
  }
}

// The jump at a node of a face of element e. load_own(own): loads the trace of this side.
template <class LoadOwn>
INLINE void jump_at(const Elements& all, const Material& m, index_t e, int face, int node,
                    const LoadOwn& load_own, const OtherSide& side, real (&jump)[JUMP]) {
#if GIVEN_JUMPS
  if (side.entry & 2) {
    UNROLL
    for (int n = 0; n < JUMP; ++n) jump[n] = side.values[n];
    return;
  }
#endif
#if NODAL
  const Impedances z =
      impedances_of(all.moduli_at<real>(m, e, node, [](const real* from) { return *from; }));
  const Face sides{weigh(z, side.impedances), *side.face};
#else
  const Impedances& z = m;
  const Face& sides = *side.face;
#endif
  OwnSide own;
  load_own(own);
  real other[TRACE];
  UNROLL
  for (int n = 0; n < TRACE; ++n)
    other[n] = side.entry ? sign_of_other(n) * side.values[n]
                          : sign_of_mirror(n) * sides.reflection * own.values[n];
#if CURVED
  find_jump(z, sides, own.normal, own.values, other, jump);
#else
  find_jump(z, sides, face / 2, face % 2 ? REAL(1) : REAL(-1), own.values, other, jump);
#endif
}

#if CURVED
#define GEOMETRY_ARGUMENTS , const real *metrics, const int *turns
#define GEOMETRY , metrics, turns
#else
#define GEOMETRY_ARGUMENTS
#define GEOMETRY
#endif
#if NODAL
#define NODAL_ARGUMENTS , const real *moduli, const real *impedances
#define NODAL_TERM , moduli, impedances
#else
#define NODAL_ARGUMENTS
#define NODAL_TERM
#endif

#define ELEMENT_ARGUMENTS                                                                     \
  real *u, real *r, const Material *materials, const FaceEntry *faces,                        \
      const long long *neighbours, const long long *targets, index_t elements, index_t slots, \
      const long long *clock MEMORY_ARGUMENTS LAYER_ARGUMENTS NODAL_ARGUMENTS GEOMETRY_ARGUMENTS
// clang-format off
#define ELEMENTS_AT(stage)                                                           \
  {u, r, materials, faces, neighbours, targets, elements, slots,                     \
   clock[0] * STAGES + (stage), static_cast<int>(stage) MEMORY_TERM LAYERS_TERM      \
   NODAL_TERM GEOMETRY}
// clang-format on
