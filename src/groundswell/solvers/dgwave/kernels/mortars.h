// Mortars: faces with four finer neighbours. The coarse side interpolates its trace to each quarter
// of the face, for the fine neighbour there. Fluxes are computed at the nodes of the quarters and
// projected onto the coarse face.
//
// As in the skew-symmetric scheme of Kozdon & Wilcox (J. Sci. Comput. 2018,
// doi:10.1007/s10915-018-0682-1), the energy balance is that of conforming faces: this side's
// velocity is subtracted after the projection, and its traction before it. For acoustic waves in
// elements that are not bricks, the pressure is subtracted after the projection and the velocity
// before it. Uniform fields then stay uniform: projections reproduce uniform pressures, but not the
// normal velocity at a curved face.
//
// Elements that are not bricks interpolate tractions (for acoustic waves, normal velocities) times
// the surface Jacobian. For uniform fields, these products are polynomials of the elements' degree,
// like the normals.
#pragma once
#include "elements.h"
#if defined(__CUDACC__)
// What a thread computes at a time: one value on a GPU, a vector of a row on a CPU.
typedef real Part;
constexpr int FACE_PITCH = NODES, PARTS = NODES;
INLINE real& part_at(real* row, int n) { return row[n]; }
INLINE real part_at(const real* row, int n) { return row[n]; }
#else
#include "spectral_elements/kernels/cpu_rows.h"
typedef Lanes Part;
constexpr int FACE_PITCH = PITCH, PARTS = VECTORS;
INLINE Lanes& part_at(real* row, int n) { return lanes_at(row, n); }
INLINE Lanes part_at(const real* row, int n) { return lanes_at(row, n); }
#endif

typedef real FaceValues[TRACE][NODES][FACE_PITCH];
typedef real Matrix[2][NODES][FACE_PITCH];

// Interpolation from the nodes of a line to those of its lower and its upper half, and the
// adjoints. Each matrix is followed by its transpose.
alignas(64) TABLE Matrix TO_HALF[2] = TO_HALVES;
alignas(64) TABLE Matrix FROM_HALF[2] = FROM_HALVES;

// Multiplies the values of a face by one matrix along its fast axis and another along its slow
// axis; `between` stores the first product. All threads of the block call this. If `add`, the
// result is added to `to`.
INLINE void multiply_face(const Matrix& fast, const Matrix& slow, const FaceValues& from,
                          FaceValues& between, FaceValues& to, bool add) {
  FOR_THREADS(t, TRACE * NODES * PARTS) {
    const int part = t % PARTS, row = t / PARTS % NODES, n = t / (PARTS * NODES);
    Part sum{};
    for (int w = 0; w < NODES; ++w) sum = FMA(from[n][row][w], part_at(fast[1][w], part), sum);
    part_at(between[n][row], part) = sum;
  }
  BARRIER();
  FOR_THREADS(t, TRACE * NODES * PARTS) {
    const int part = t % PARTS, row = t / PARTS % NODES, n = t / (PARTS * NODES);
    Part sum = add ? part_at(to[n][row], part) : Part{};
    for (int w = 0; w < NODES; ++w) sum = FMA(slow[0][row][w], part_at(between[n][w], part), sum);
    part_at(to[n][row], part) = sum;
  }
  BARRIER();
}

// Calls body(slow, fast) for the nodes of a face.
template <class Body> INLINE void for_face_nodes(const Body& body) {
#if defined(__CUDACC__)
  FOR_THREADS(p, PLANE) body(p / NODES, p % NODES);
#else
  for (int slow = 0; slow < NODES; ++slow) {
    PRAGMA(omp simd)
    for (int fast = 0; fast < NODES; ++fast) body(slow, fast);
  }
#endif
}

// Calls body(n, slow, fast) for the values n of a trace and the nodes of a face.
template <class Body> INLINE void for_trace(const Body& body) {
#if defined(__CUDACC__)
  FOR_THREADS(t, TRACE * PLANE) body(t / PLANE, t % PLANE / NODES, t % NODES);
#else
  for (int n = 0; n < TRACE; ++n) for_face_nodes([&](int slow, int fast) { body(n, slow, fast); });
#endif
}

// Element and face of a mortar. Further arguments of the mortar kernels:
//   sides [mortars][4]: entries of the quarters
//   quarter_impedances [mortars][4][2][IMPEDANCES][PLANE]: at the nodes of the quarters, on this
//     and the other side
//   quarter_normals [mortars][4][3][PLANE]: this side's outward normals there, times the surface
//     Jacobian of the face
#if NODAL
#define QUARTER_IMPEDANCES , const real* quarter_impedances
#define IMPEDANCES_OF_QUARTERS , quarter_impedances
#else
#define QUARTER_IMPEDANCES
#define IMPEDANCES_OF_QUARTERS
#endif
#if CURVED
#define QUARTER_NORMALS , const real* quarter_normals
#define NORMALS_OF_QUARTERS , quarter_normals
#else
#define QUARTER_NORMALS
#define NORMALS_OF_QUARTERS
#endif
#define QUARTERS {sides IMPEDANCES_OF_QUARTERS NORMALS_OF_QUARTERS}
#define MORTAR_ARGUMENTS                                                     \
  const int *mortar_faces, const long long *quarters, const long long *fine, \
      const FaceEntry *sides, real *jumps, index_t mortars QUARTER_IMPEDANCES QUARTER_NORMALS
struct Mortar {
  index_t e;
  int face;
};

// Loads the trace of this side. All threads of the block must call this.
INLINE void load_trace(const Elements& all, const Mortar& mortar, FaceValues& own) {
  const real* const values = all.u + mortar.e * PITCH_OF_ELEMENTS;
#if CURVED
  for_face_nodes([&](int slow, int fast) {
    const int node = node_of_face(mortar.face, slow * NODES + fast);
    real normal[3], trace[TRACE];
    find_scaled_normal(all.metrics_of(mortar.e), mortar.face, node, normal);
    find_trace(normal, [&](int field) { return values[field * CUBE + node]; }, trace);
    for (int n = 0; n < TRACE; ++n) own[n][slow][fast] = trace[n];
  });
#else
  for_trace([&](int n, int slow, int fast) {
    const int field = traced_field(mortar.face / 2, n);
    own[n][slow][fast] = values[field * CUBE + node_of_face(mortar.face, slow * NODES + fast)];
  });
#endif
}

// Materials and normals at the nodes of quarters.
struct Quarters {
  const FaceEntry* sides;
#if NODAL
  const real* impedances;

  METHOD Impedances own(const Material&, index_t quarter, int p) const {
    return impedances_from(impedances + quarter * (2 * IMPEDANCES * PLANE) + p);
  }
  METHOD Face side(const Impedances& own, index_t quarter, int p) const {
    const real* const at = impedances + quarter * (2 * IMPEDANCES * PLANE) + p;
    return {weigh(own, impedances_from(at + IMPEDANCES * PLANE)), sides[quarter]};
  }
#else
  METHOD const Impedances& own(const Material& m, index_t, int) const { return m; }
  METHOD const Face& side(const Impedances&, index_t quarter, int) const { return sides[quarter]; }
#endif
#if CURVED
  const real* normals;

  METHOD Normal normal(index_t quarter, int p) const {
    const real* const at = normals + quarter * (3 * PLANE) + p;
    return unit_normal({at[0], at[PLANE], at[2 * PLANE]});
  }
#endif
};

// The interpolated trace of this side at a node of a quarter.
INLINE void load_node(const FaceValues& quarter, int slow, int fast, real (&trace)[TRACE]) {
  for (int n = 0; n < TRACE; ++n) trace[n] = quarter[n][slow][fast];
}
#if CURVED
// The same for the unit normal. Values that change sign with the normal are divided by the surface
// Jacobian.
INLINE void load_node(const FaceValues& quarter, int slow, int fast, const Normal& normal,
                      real (&trace)[TRACE]) {
  load_node(quarter, slow, fast, trace);
  for (int n = 0; n < TRACE; ++n)
    if (sign_of_other(n) < 0) trace[n] *= normal.inverse_area;
}
#endif

// Stores the traces of the quarters of mortars first to first + count - 1, from the fields after
// the stage.
KERNEL interpolate_traces(ELEMENT_ARGUMENTS, MORTAR_ARGUMENTS, index_t stage, index_t first,
                          index_t count) {
  const Elements all ELEMENTS_AT(stage);
  FOR_BLOCKS(b, count) {
    [[maybe_unused]] const FlushDenormals flush{};
    SHARED(FaceValues, own, );
    SHARED(FaceValues, between, );
    SHARED(FaceValues, interpolated, );
    const index_t m = first + b;
    const Mortar mortar{mortar_faces[2 * m], mortar_faces[2 * m + 1]};
#if CURVED
    const Quarters at QUARTERS;
    const Material material = all.materials[mortar.e];
#endif
    load_trace(all, mortar, own);
    BARRIER();
    for (int q = 0; q < 4; ++q) {
      multiply_face(TO_HALF[q % 2], TO_HALF[q / 2], own, between, interpolated, false);
      const index_t row = (buffer_of((all.stage + 1) % STAGES) * mortars + m) * 4 + q;
      real* const to = all.locate(quarters[row], true);
#if CURVED
      for_face_nodes([&](int slow, int fast) {
        const int p = slow * NODES + fast;
        const Normal normal = at.normal(m * 4 + q, p);
        real trace[TRACE];
        load_node(interpolated, slow, fast, normal, trace);
        remove_shear(at.own(material, m * 4 + q, p), normal, trace);
        for (int n = 0; n < TRACE; ++n) to[n * PLANE + p] = trace[n];
      });
#else
      for_trace([&](int n, int slow, int fast) {
        to[n * PLANE + slow * NODES + fast] = interpolated[n][slow][fast];
      });
#endif
      BARRIER();
    }
  }
}

// Computes the jumps of mortars from the fields before the stage and the traces of the finer
// neighbours.
KERNEL project_jumps(ELEMENT_ARGUMENTS, MORTAR_ARGUMENTS, index_t stage) {
  const Elements all ELEMENTS_AT(stage);
  FOR_BLOCKS(m, mortars) {
    [[maybe_unused]] const FlushDenormals flush{};
    SHARED(FaceValues, own, );
    SHARED(FaceValues, between, );
    SHARED(FaceValues, at_quarter, );  // the interpolated trace, then the jump
    SHARED(FaceValues, sum, );
    const Mortar mortar{mortar_faces[2 * m], mortar_faces[2 * m + 1]};
    const Quarters at QUARTERS;
    const Material material = all.materials[mortar.e];
    load_trace(all, mortar, own);
    for_trace([&](int n, int slow, int fast) { sum[n][slow][fast] = 0; });
    BARRIER();
    for (int q = 0; q < 4; ++q) {
      multiply_face(TO_HALF[q % 2], TO_HALF[q / 2], own, between, at_quarter, false);
      const index_t quarter = m * 4 + q;
      const real* const other =
          all.locate(fine[(buffer_of(all.stage) * mortars + m) * 4 + q], false);
      for_face_nodes([&](int slow, int fast) {
        const int p = slow * NODES + fast;
        real here[TRACE], there[TRACE], jump[JUMP];
        const Impedances& z = at.own(material, quarter, p);
        const Face& side = at.side(z, quarter, p);
        for (int n = 0; n < TRACE; ++n) there[n] = other[n * PLANE + p];
#if CURVED
        const Normal normal = at.normal(quarter, p);
        real before[TRACE];
        load_node(at_quarter, slow, fast, normal, before);
        load_node(at_quarter, slow, fast, normal, here);
        remove_shear(z, normal, here);
        for (int n = 0; n < TRACE; ++n) there[n] *= sign_of_other(n);
        find_jump(z, side, normal, here, there, jump);
        add_removed_shear(normal, before, here, jump);
#else
        load_node(at_quarter, slow, fast, here);
        find_jump(z, side, mortar.face / 2, mortar.face % 2 ? REAL(1) : REAL(-1), here, there,
                  jump);
#endif
        add_own(mortar.face, here, jump);
        for (int n = 0; n < TRACE; ++n) at_quarter[n][slow][fast] = jump[n];
      });
      BARRIER();
      multiply_face(FROM_HALF[q % 2], FROM_HALF[q / 2], at_quarter, between, sum, true);
    }
    for_face_nodes([&](int slow, int fast) {
      const int p = slow * NODES + fast;
      real here[TRACE], jump[JUMP];
      for (int n = 0; n < TRACE; ++n) {
        here[n] = -own[n][slow][fast];
        jump[n] = sum[n][slow][fast];
      }
      add_own(mortar.face, here, jump);
      for (int n = 0; n < JUMP; ++n) jumps[(m * JUMP + n) * PLANE + p] = jump[n];
    });
  }
}
