// Mortars: faces with four finer neighbours. The coarse side interpolates its trace to each quarter of the face, for
// the fine neighbour there. Fluxes are computed at the nodes of the quarters and projected onto the coarse face.
//
// As in the skew-symmetric scheme of Kozdon & Wilcox (J. Sci. Comput. 2018, doi:10.1007/s10915-018-0682-1), the energy
// balance is that of conforming faces: this side's velocity is subtracted after the projection, and its traction
// before it. For acoustic waves in elements that are not bricks, the pressure is subtracted after the projection and
// the velocity before it. Uniform fields then stay uniform: projections reproduce uniform pressures, but not the normal
// velocity at a curved face.
//
// Elements that are not bricks interpolate tractions (for acoustic waves, normal velocities) times the surface
// Jacobian. For uniform fields, these products are polynomials of the elements' degree, like the normals.
#pragma once
#include "elements.h"
#include "spectral_elements/kernels/contract.h"

// Interpolation from the nodes of a line to those of its lower and its upper half, and the adjoints. Each matrix is
// followed by its transpose.
TABLE real TO_HALF[2][2][NODES][NODES] = TO_HALVES;
TABLE real FROM_HALF[2][2][NODES][NODES] = FROM_HALVES;

typedef real FaceValues[TRACE][PLANE];
typedef real Matrix[2][NODES][NODES];

// Number of values of a line that a thread computes at a time: one on a GPU, a vector on a CPU.
constexpr int AT_ONCE = LINES_PER_THREAD(NODES);

// Multiplies the values of a face by one matrix along its fast axis and another along its slow axis; `between` stores
// the first product. All threads of the block call this. If `add`, the result is added to `to`.
template <class Source>
INLINE void multiply_face(const Matrix& fast, const Matrix& slow, const Source& from, FaceValues& between,
                          FaceValues& to, bool add) {
  FOR_THREADS(t, TRACE * PLANE / AT_ONCE) {
    const int p = t * AT_ONCE % PLANE, n = t * AT_ONCE / PLANE, row = p / NODES, a = p % NODES;
    real sums[AT_ONCE] = {};
    for (int w = 0; w < NODES; ++w)
      VECTORIZED
      for (int i = 0; i < AT_ONCE; ++i) sums[i] = FMA(fast[1][w][a + i], from(n, row * NODES + w), sums[i]);
    for (int i = 0; i < AT_ONCE; ++i) between[n][p + i] = sums[i];
  }
  BARRIER();
  FOR_THREADS(t, TRACE * PLANE / AT_ONCE) {
    const int p = t * AT_ONCE % PLANE, n = t * AT_ONCE / PLANE, row = p / NODES, a = p % NODES;
    real sums[AT_ONCE];
    for (int i = 0; i < AT_ONCE; ++i) sums[i] = add ? to[n][p + i] : REAL(0);
    for (int w = 0; w < NODES; ++w)
      VECTORIZED
      for (int i = 0; i < AT_ONCE; ++i) sums[i] = FMA(slow[0][row][w], between[n][w * NODES + a + i], sums[i]);
    for (int i = 0; i < AT_ONCE; ++i) to[n][p + i] = sums[i];
  }
  BARRIER();
}

// Element and face of a mortar. Further arguments of the mortar kernels:
//   sides [mortars][4]: entries of the quarters
//   quarter_impedances [mortars][4][2][IMPEDANCES][PLANE]: at the nodes of the quarters, on this and the other side
//   quarter_normals [mortars][4][3][PLANE]: this side's outward normals there, times the surface Jacobian of the face
#if NODAL
#define QUARTER_IMPEDANCES , const real *quarter_impedances
#define IMPEDANCES_OF_QUARTERS , quarter_impedances
#else
#define QUARTER_IMPEDANCES
#define IMPEDANCES_OF_QUARTERS
#endif
#if CURVED
#define QUARTER_NORMALS , const real *quarter_normals
#define NORMALS_OF_QUARTERS , quarter_normals
#else
#define QUARTER_NORMALS
#define NORMALS_OF_QUARTERS
#endif
#define QUARTERS { sides IMPEDANCES_OF_QUARTERS NORMALS_OF_QUARTERS }
#define MORTAR_ARGUMENTS                                                                                          \
  const int *mortar_faces, const long long *quarters, const long long *fine, const FaceEntry *sides, real *jumps, \
      index_t mortars QUARTER_IMPEDANCES QUARTER_NORMALS
struct Mortar {
  index_t e;
  int face;
};

// Loads the trace of this side. All threads of the block must call this.
INLINE void load_trace(const Elements& all, const Mortar& mortar, FaceValues& own) {
  const real* const values = all.u + mortar.e * PITCH_OF_ELEMENTS;
#if CURVED
  FOR_THREADS(p, PLANE) {
    const int node = node_of_face(mortar.face, p);
    real normal[3], trace[TRACE];
    find_scaled_normal(all.metrics_of(mortar.e), mortar.face, node, normal);
    find_trace(normal, [&](int field) { return values[field * CUBE + node]; }, trace);
    for (int n = 0; n < TRACE; ++n) own[n][p] = trace[n];
  }
#else
  FOR_THREADS(t, TRACE * PLANE) {
    const int field = traced_field(mortar.face / 2, t / PLANE);
    own[t / PLANE][t % PLANE] = values[field * CUBE + node_of_face(mortar.face, t % PLANE)];
  }
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

// The interpolated trace of this side at node p of a quarter.
INLINE void load_node(const FaceValues& part, int p, real (&trace)[TRACE]) {
  for (int n = 0; n < TRACE; ++n) trace[n] = part[n][p];
}
#if CURVED
// The same for the unit normal. Values that change sign with the normal are divided by the surface Jacobian.
INLINE void load_node(const FaceValues& part, int p, const Normal& normal, real (&trace)[TRACE]) {
  for (int n = 0; n < TRACE; ++n) trace[n] = sign_of_other(n) < 0 ? part[n][p] / normal.area : part[n][p];
}
#endif

// Stores the traces of the quarters of mortars first to first + count - 1, from the fields after the stage.
KERNEL interpolate_traces(ELEMENT_ARGUMENTS, MORTAR_ARGUMENTS, index_t stage, index_t first, index_t count) {
  const Elements all ELEMENTS_AT(stage);
  FOR_BLOCKS(b, count) {
    SHARED(FaceValues, own, );
    SHARED(FaceValues, between, );
    SHARED(FaceValues, part, );
    const index_t m = first + b;
    const Mortar mortar{mortar_faces[2 * m], mortar_faces[2 * m + 1]};
#if CURVED
    const Quarters at QUARTERS;
    const Material material = all.materials[mortar.e];
#endif
    load_trace(all, mortar, own);
    BARRIER();
    for (int q = 0; q < 4; ++q) {
      multiply_face(TO_HALF[q % 2], TO_HALF[q / 2], [&](int n, int p) { return own[n][p]; }, between, part, false);
      const index_t row = (buffer_of((all.stage + 1) % STAGES) * mortars + m) * 4 + q;
      real* const to = all.locate(quarters[row], true);
#if CURVED
      FOR_THREADS(p, PLANE) {
        const Normal normal = at.normal(m * 4 + q, p);
        real trace[TRACE];
        load_node(part, p, normal, trace);
        remove_shear(at.own(material, m * 4 + q, p), normal, trace);
        for (int n = 0; n < TRACE; ++n) to[n * PLANE + p] = trace[n];
      }
#else
      FOR_THREADS(t, TRACE * PLANE) { to[t] = part[t / PLANE][t % PLANE]; }
#endif
      BARRIER();
    }
  }
}

// Computes the jumps of mortars from the fields before the stage and the traces of the finer neighbours.
KERNEL project_jumps(ELEMENT_ARGUMENTS, MORTAR_ARGUMENTS, index_t stage) {
  const Elements all ELEMENTS_AT(stage);
  FOR_BLOCKS(m, mortars) {
    SHARED(FaceValues, own, );
    SHARED(FaceValues, between, );
    SHARED(FaceValues, part, );
    SHARED(FaceValues, sum, );
    const Mortar mortar{mortar_faces[2 * m], mortar_faces[2 * m + 1]};
    const Quarters at QUARTERS;
    const Material material = all.materials[mortar.e];
    load_trace(all, mortar, own);
    FOR_THREADS(t, TRACE * PLANE) { sum[t / PLANE][t % PLANE] = 0; }
    BARRIER();
    for (int q = 0; q < 4; ++q) {
      multiply_face(TO_HALF[q % 2], TO_HALF[q / 2], [&](int n, int p) { return own[n][p]; }, between, part, false);
      const index_t quarter = m * 4 + q;
      const real* const other = all.locate(fine[(buffer_of(all.stage) * mortars + m) * 4 + q], false);
      FOR_THREADS(p, PLANE) {
        real here[TRACE], there[TRACE], jump[JUMP];
        const Impedances& z = at.own(material, quarter, p);
        const Face& side = at.side(z, quarter, p);
        for (int n = 0; n < TRACE; ++n) there[n] = other[n * PLANE + p];
#if CURVED
        const Normal normal = at.normal(quarter, p);
        real interpolated[TRACE];
        load_node(part, p, normal, interpolated);
        load_node(part, p, normal, here);
        remove_shear(z, normal, here);
        for (int n = 0; n < TRACE; ++n) there[n] *= sign_of_other(n);
        find_jump(z, side, normal, here, there, jump);
        add_removed_shear(normal, interpolated, here, jump);
#else
        load_node(part, p, here);
        find_jump(z, side, mortar.face / 2, mortar.face % 2 ? REAL(1) : REAL(-1), here, there, jump);
#endif
        add_own(mortar.face, here, jump);
        for (int n = 0; n < TRACE; ++n) part[n][p] = jump[n];
      }
      BARRIER();
      multiply_face(FROM_HALF[q % 2], FROM_HALF[q / 2], [&](int n, int p) { return part[n][p]; }, between, sum, true);
    }
    FOR_THREADS(p, PLANE) {
      real here[TRACE], jump[JUMP];
      for (int n = 0; n < TRACE; ++n) {
        here[n] = -own[n][p];
        jump[n] = sum[n][p];
      }
      add_own(mortar.face, here, jump);
      for (int n = 0; n < JUMP; ++n) jumps[(m * JUMP + n) * PLANE + p] = jump[n];
    }
  }
}
