// The operators of one step of the k-space scheme on spectra along x: transforms along y and z, and back.
//
// A launch transforms one segment of wavenumbers k_x after the other, along y, along z and back along y, so
// that a segment stays in the second-level cache in between. Its blocks are dispatched in the order of their
// numbers. Each does one task: some lines of one of these passes. A pass over a segment comes LAG tasks after
// the one before it; a block waits until all its blocks have ended.
#include "lines.h"

constexpr int SLOTS = NY > NZ ? NY : NZ;  // tasks of a pass over a segment, of which some may not exist
constexpr int ALL_SEGMENTS = SEGMENTS + 1;
constexpr int PARTS_Y = (NZ + WIDTH - 1) / WIDTH, PARTS_Z = (NY + WIDTH - 1) / WIDTH;  // for k_x = MX

struct Task {
  int pass, field, segment, index;
  METHOD int all_y() const { return segment < SEGMENTS ? NZ : PARTS_Y; }
  METHOD int all_z() const { return segment < SEGMENTS ? NY : PARTS_Z; }
  METHOD DeviceLine along_y(int lane) const { return line_along_y(segment * NZ + index, lane); }
  METHOD DeviceLine along_z(int lane) const { return line_along_z(segment * NY + index, lane); }
};

// --- order of blocks ---------------------------------------------------------------------------------------

// Waits until a counter has reached a number.
INLINE void await(const unsigned* counter, unsigned number) {
  if (threadIdx.x == 0)
    while (*static_cast<const volatile unsigned*>(counter) < number) {
    }
  __threadfence();
  BARRIER();
}

// Adds 1 to a counter when all threads of the block have ended.
INLINE void add_one(unsigned* counter) {
  __threadfence();
  BARRIER();
  if (threadIdx.x == 0) atomicAdd(counter, 1u);
}

// Calls body(task) for the task of a block: passes 0 along y, 1 along z, and from 2 on back along y. `ended`
// counts the blocks that have ended the passes 0 and 1 of each segment of each field.
template <int PASSES, class Body>
INLINE void in_order(index_t block, int fields, unsigned* ended, Body body) {
  const int pass = block % PASSES;
  const int n = static_cast<int>(block / PASSES) - min(pass, 2) * LAG;
  if (n < 0 || n >= fields * ALL_SEGMENTS * SLOTS) return;
  const Task task{pass, n / (ALL_SEGMENTS * SLOTS), n / SLOTS % ALL_SEGMENTS, n % SLOTS};
  if (task.index >= (pass == 1 ? task.all_z() : task.all_y())) return;
  unsigned* const count = ended + 2 * (n / SLOTS);
  if (pass > 0) await(count + min(pass, 2) - 1, pass == 1 ? task.all_y() : task.all_z());
  body(task);
  if (pass < 2) add_one(count + pass);
}

METHOD constexpr index_t tasks(int passes, int fields) {
  return static_cast<index_t>(passes) * (fields * ALL_SEGMENTS * SLOTS + 2 * LAG);
}

KERNEL clear_counts(unsigned* ended, index_t count) {
  FOR_ITEMS(n, count) { ended[n] = 0; }
}

// kappa P becomes its derivative along x; those along y and z.
KERNEL find_gradient(Complex* p, Complex* along_y, Complex* along_z, const real* x2, const real* y2,
                     const real* z2, const Complex* dx, const Complex* dy, const Complex* dz,
                     const Complex* twiddles_y, const Complex* twiddles_z, unsigned* ended) {
  DYNAMIC_SHARED(Complex, memory);
  FOR_BLOCKS(e, tasks(4, 1)) {
    in_order<4>(e, 1, ended, [&](Task task) {
      const Worker w = worker(memory, task.pass == 1 ? NZ : NY);
      const DeviceLine place = task.pass == 1 ? task.along_z(w.lane) : task.along_y(w.lane);
      if (task.pass == 0) forward_along_y(w, twiddles_y, p, place);
      if (task.pass == 1) gradient_along_z(w, twiddles_z, p, along_z, place, {x2, y2, z2}, dz);
      if (task.pass == 2) gradient_along_y(w, twiddles_y, p, along_y, place, dx, dy);
      if (task.pass == 3) inverse_along_y(w, twiddles_y, along_z, place);
    });
  }
}

// Derivatives of the velocities along their axes, times kappa, in place.
KERNEL find_divergence(Complex* ux, Complex* uy, Complex* uz, const real* x2, const real* y2, const real* z2,
                       const Complex* dx, const Complex* dy, const Complex* dz, const Complex* twiddles_y,
                       const Complex* twiddles_z, unsigned* ended) {
  DYNAMIC_SHARED(Complex, memory);
  FOR_BLOCKS(e, tasks(3, 3)) {
    in_order<3>(e, 3, ended, [&](Task task) {
      const Worker w = worker(memory, task.pass == 1 ? NZ : NY);
      const DeviceLine place = task.pass == 1 ? task.along_z(w.lane) : task.along_y(w.lane);
      Complex* const u = select(task.field, ux, uy, uz);
      if (task.pass == 0) forward_along_y(w, twiddles_y, u, place);
      if (task.pass == 1)
        derivative_along_z(w, twiddles_z, u, place, task.field, {x2, y2, z2}, dx, dy, dz);
      if (task.pass == 2) inverse_along_y(w, twiddles_y, u, place);
    });
  }
}

// Fractional Laplacians of the rate of density, and of the density, in place.
KERNEL find_laplacians(Complex* rate, Complex* density, const real* x2, const real* y2, const real* z2,
                       const Complex* twiddles_y, const Complex* twiddles_z, unsigned* ended) {
  DYNAMIC_SHARED(Complex, memory);
  constexpr int FIELDS = ABSORBING + DISPERSIVE;
  FOR_BLOCKS(e, tasks(3, FIELDS)) {
    in_order<3>(e, FIELDS, ended, [&](Task task) {
      const Worker w = worker(memory, task.pass == 1 ? NZ : NY);
      const DeviceLine place = task.pass == 1 ? task.along_z(w.lane) : task.along_y(w.lane);
      const bool absorbs = ABSORBING && task.field == 0;
      Complex* const values = absorbs ? rate : density;
      if (task.pass == 0) forward_along_y(w, twiddles_y, values, place);
      if (task.pass == 1) laplacian_along_z(w, twiddles_z, values, place, absorbs, {x2, y2, z2});
      if (task.pass == 2) inverse_along_y(w, twiddles_y, values, place);
    });
  }
}

// The k-space correction of additive sources, in place.
KERNEL correct_source(Complex* term, const real* x2, const real* y2, const real* z2, const Complex* twiddles_y,
                      const Complex* twiddles_z, unsigned* ended) {
  DYNAMIC_SHARED(Complex, memory);
  FOR_BLOCKS(e, tasks(3, 1)) {
    in_order<3>(e, 1, ended, [&](Task task) {
      const Worker w = worker(memory, task.pass == 1 ? NZ : NY);
      const DeviceLine place = task.pass == 1 ? task.along_z(w.lane) : task.along_y(w.lane);
      const real square = x2[place.kx] + y2[place.other];
      if (task.pass == 0) forward_along_y(w, twiddles_y, term, place);
      if (task.pass == 1)
        scale_along_z(w, twiddles_z, term, place, [&](int z) { return source_kappa(square + z2[z]); });
      if (task.pass == 2) inverse_along_y(w, twiddles_y, term, place);
    });
  }
}
