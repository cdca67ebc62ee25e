// The operators of one step of the k-space scheme on spectra along x: transforms along y and z, and
// back.
//
// A launch processes the segments of k_x one after the other, in several passes: transforms along
// y, along z, and back along y. A few segments fit into the L2 cache, so their values stay there
// between the passes. Each block performs one task: some lines of a pass. Blocks get the numbers of
// their tasks in the order in which they start, and the tasks of a pass follow those of the
// previous pass LAG tasks later. A block waits until all blocks of the previous pass over its
// segment have ended, which is rarely necessary. There is no deadlock, because these blocks have
// started before.
#include "lines.h"

METHOD constexpr int parts(int n, int lines) { return (n + lines - 1) / lines; }

// Tasks of a pass over a segment; some may be empty.
constexpr int SLOTS = parts(NY > NZ ? NY : NZ, GROUP);
constexpr int ALL_SEGMENTS = SEGMENTS + 1;  // includes that of k_x = MX
// Counters of ended blocks; that of started ones follows.
constexpr int COUNTS = 2 * 3 * ALL_SEGMENTS;

struct Task {
  int pass, field, segment, part;
  METHOD int all_y() const { return parts(NZ, segment < SEGMENTS ? GROUP : LANES); }
  METHOD int all_z() const { return parts(NY, segment < SEGMENTS ? GROUP : LANES); }
};

// Number of blocks of a launch.
METHOD constexpr index_t blocks(int passes, int fields) {
  return static_cast<index_t>(passes) * (fields * ALL_SEGMENTS * SLOTS + 2 * LAG);
}

// Waits until a counter reaches a number.
INLINE void await(const unsigned* counter, unsigned number) {
  if (threadIdx.x == 0)
    while (*static_cast<const volatile unsigned*>(counter) < number) {}
  __threadfence();
  BARRIER();
}

// Adds 1 to a counter after all threads of the block have arrived.
INLINE void add_one(unsigned* counter) {
  __threadfence();
  BARRIER();
  if (threadIdx.x == 0) atomicAdd(counter, 1u);
}

// The number of this block's task: the number of blocks that have started before.
INLINE index_t draw(unsigned* ended) {
#ifdef NO_DRAW
  return blockIdx.x;
#endif
  SHARED(unsigned, number, );
  if (threadIdx.x == 0) number = atomicAdd(ended + COUNTS, 1u);
  BARRIER();
  return number;
}

// Calls body(task, worker, line) for the task of a block: passes 0 along y, 1 along z, and from 2
// on back along y. `ended` counts the blocks that have ended the passes 0 and 1 of each segment of
// each field.
template <int PASSES, class Body>
INLINE void in_order(index_t block, int fields, unsigned* ended, Body body) {
  DYNAMIC_SHARED(Complex, memory);
  const int pass = block % PASSES;
  const int n = static_cast<int>(block / PASSES) - min(pass, 2) * LAG;
  if (n < 0 || n >= fields * ALL_SEGMENTS * SLOTS) return;
  const Task task{pass, n / (ALL_SEGMENTS * SLOTS), n / SLOTS % ALL_SEGMENTS, n % SLOTS};
  if (task.part >= (pass == 1 ? task.all_z() : task.all_y())) return;
  unsigned* const counts = ended + 2 * (n / SLOTS);
  if (pass > 0) await(counts + min(pass, 2) - 1, pass == 1 ? task.all_y() : task.all_z());
  const Worker w = worker(memory, pass == 1 ? NZ : NY);
  body(task, w,
       pass == 1 ? line_along_z(task.segment, task.part, w.lane)
                 : line_along_y(task.segment, task.part, w.lane));
  if (pass < 2) add_one(counts + pass);
}

// The passes of operators in place: along_z(field, spectrum, worker, line) includes both transforms
// along z.
template <class Select, class AlongZ>
INLINE void apply(index_t block, int fields, const Complex* twiddles, unsigned* ended,
                  Select spectrum_of, AlongZ along_z) {
  in_order<3>(block, fields, ended, [&](Task task, Worker w, DeviceLine line) {
    Complex* const spectrum = spectrum_of(task.field);
    if (task.pass == 0) forward_along_y(w, twiddles, spectrum, line);
    if (task.pass == 1) along_z(task.field, spectrum, w, line);
    if (task.pass == 2) inverse_along_y(w, twiddles, spectrum, line);
  });
}

// --- kernels -------------------------------------------------------------------------------------

// The tables x2, y2, z2 are squares (c_ref k dt / 2)^2 of the wavenumbers along each axis; dx, dy
// and dz are factors of the derivatives.

KERNEL clear_counts(unsigned* ended, index_t count) {
  FOR_ITEMS(n, count) { ended[n] = 0; }
}

// kappa P becomes its derivative along x; those along y and z.
KERNEL find_gradient(Complex* p, Complex* along_y, Complex* along_z, const real* x2, const real* y2,
                     const real* z2, const Complex* dx, const Complex* dy, const Complex* dz,
                     const Complex* twiddles_y, const Complex* twiddles_z, unsigned* ended) {
  FOR_BLOCKS(e, blocks(4, 1)) {
    in_order<4>(draw(ended), 1, ended, [&](Task task, Worker w, DeviceLine line) {
      if (task.pass == 0) forward_along_y(w, twiddles_y, p, line);
      if (task.pass == 1) gradient_along_z(w, twiddles_z, p, along_z, line, {x2, y2, z2}, dz);
      if (task.pass == 2) gradient_along_y(w, twiddles_y, p, along_y, line, dx, dy);
      if (task.pass == 3) inverse_along_y(w, twiddles_y, along_z, line);
    });
  }
}

// Derivatives of the velocities along their axes, times kappa, in place.
KERNEL find_divergence(Complex* ux, Complex* uy, Complex* uz, const real* x2, const real* y2,
                       const real* z2, const Complex* dx, const Complex* dy, const Complex* dz,
                       const Complex* twiddles_y, const Complex* twiddles_z, unsigned* ended) {
  FOR_BLOCKS(e, blocks(3, 3)) {
    apply(
        draw(ended), 3, twiddles_y, ended,
        [&](int axis) { return axis == 0 ? ux : (axis == 1 ? uy : uz); },
        [&](int axis, Complex* u, Worker w, DeviceLine line) {
          derivative_along_z(w, twiddles_z, u, line, axis, {x2, y2, z2}, dx, dy, dz);
        });
  }
}

// Fractional Laplacians of the rate of density, and of the density, in place.
KERNEL find_laplacians(Complex* rate, Complex* density, const real* x2, const real* y2,
                       const real* z2, const Complex* twiddles_y, const Complex* twiddles_z,
                       unsigned* ended) {
  constexpr int FIELDS = ABSORBING + DISPERSIVE;
  FOR_BLOCKS(e, blocks(3, FIELDS)) {
    apply(
        draw(ended), FIELDS, twiddles_y, ended,
        [&](int field) { return ABSORBING && field == 0 ? rate : density; },
        [&](int field, Complex* values, Worker w, DeviceLine line) {
          laplacian_along_z(w, twiddles_z, values, line, ABSORBING && field == 0, {x2, y2, z2});
        });
  }
}

// The k-space correction of additive sources, in place.
KERNEL correct_source(Complex* term, const real* x2, const real* y2, const real* z2,
                      const Complex* twiddles_y, const Complex* twiddles_z, unsigned* ended) {
  FOR_BLOCKS(e, blocks(3, 1)) {
    apply(
        draw(ended), 1, twiddles_y, ended, [&](int) { return term; },
        [&](int, Complex* values, Worker w, DeviceLine line) {
          const real across = x2[line.kx] + y2[line.other];
          scale_along_z(w, twiddles_z, values, line,
                        [&](int z) { return source_kappa(across + z2[z]); });
        });
  }
}
