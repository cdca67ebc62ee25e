// What blocks of a GPU's threads have in common.
#pragma once
#include "element.h"

#if defined(__CUDACC__)
#include "bulk.h"

constexpr int WARP = 32;
constexpr int ROW_PITCH = NODES | 1;  // of shared tables: rows begin in different banks

INLINE void share_derivative(real (&d)[NODES][ROW_PITCH]) {
  for (int n = threadIdx.x; n < PLANE; n += blockDim.x)
    d[n / NODES][n % NODES] = DERIVATIVE_AT[n / NODES][n % NODES];
}

#if GEOMETRY == 0 && RING > 0 && BULK_COPIES
// Of each element RING planes of the stored metric are in shared memory, or on their way: all of them
// from the beginning, in one piece, or each in its slot, which another one gets when it has been read.
constexpr int AT_ONCE = RING < NODES ? 1 : NODES;  // planes that arrive together
constexpr int SLOTS = RING / AT_ONCE, SLOT = AT_ONCE * PLANE_PITCH;
constexpr int RING_VALUES = ELEMENTS * SLOTS * SLOT;
static_assert(RING <= NODES, "there are no more planes");
static_assert(RUN == PLANE && RUN_PITCH * sizeof(real) % 16 == 0, "copies want whole pieces");

// Of a line along t, as Line is.
struct ArrivedLine {
  const real* first;

  METHOD Metric at(int t) const { return stored_metric(first + t % RING * PLANE_PITCH); }
};

// For all threads of `warps` warps; `memory`, (ELEMENTS, SLOTS, SLOT), begins with a piece of 16 bytes.
struct Ring {
  const Given& given;
  const int* elements;
  int count, warps;
  real* memory;

  // For all of the block: a thread for each element asks for its first planes.
  METHOD void start() const {
    const int n = threadIdx.x;
    if (n == 0 && given.component == 0) open();
    __syncthreads();
    if (n >= count || (AT_ONCE == NODES && given.component > 0)) return;  // what came stays there
    const real* const from = metric_of(n);
    before_copies();
    for (int slot = 0; slot < SLOTS; ++slot) {
      if (n == 0) expect(slot);
      bring(n, from, slot);
    }
  }

  // Before a plane is read.
  METHOD void await(int t) const {
    const int slot = t / AT_ONCE % SLOTS, fillings = (NODES - slot + RING - 1) / RING;
    const int before = AT_ONCE == NODES ? 0 : given.component * fillings + t / RING;
    if (t % AT_ONCE == 0) await_bytes(arrivals() + slot, before % 2);
  }

  METHOD ArrivedLine line(int n, index_t, int s, int r) const {
    return {memory + n * SLOTS * SLOT + s * NODES + r};
  }

  // After that: whoever is last has the slot filled again.
  METHOD void leave(int t) const {
    if (t + RING >= NODES) return;
    __syncwarp();
    if (threadIdx.x % WARP > 0 || !is_last(readers() + t % SLOTS, warps)) return;
    before_copies();
    expect(t + RING);
    for (int n = 0; n < count; ++n) bring(n, metric_of(n), t + RING);
  }

  METHOD static arrival_t* arrivals() {
    SHARED(arrival_t, of_slots, [SLOTS]);
    return of_slots;
  }
  METHOD static unsigned* readers() {
    SHARED(unsigned, of_slots, [SLOTS]);
    return of_slots;
  }
  METHOD void open() const {
    for (int slot = 0; slot < SLOTS; ++slot) {
      open_arrival(arrivals() + slot);
      readers()[slot] = 0;
    }
  }
  METHOD const real* metric_of(int n) const {
    return given.shape + static_cast<index_t>(elements[n]) * ELEMENT_PITCH;
  }
  METHOD void expect(int filling) const {
    expect_bytes(arrivals() + filling % SLOTS, count * SLOT * static_cast<int>(sizeof(real)));
  }
  METHOD void bring(int n, const real* from, int filling) const {
    real* const slot = memory + (n * SLOTS + filling % SLOTS) * SLOT;
    copy_bulk(slot, from + filling * SLOT, SLOT * sizeof(real), arrivals() + filling % SLOTS);
  }
};
#else
constexpr int RING_VALUES = 0;

// The metric of each node is read, or worked out, when it is wanted.
struct Ring {
  const Given& given;
  const int* elements;
  int count, warps;
  real* memory;

  METHOD void start() const {}
  METHOD void await(int) const {}
  METHOD Line line(int, index_t e, int s, int r) const { return {given.shape, e, s, r}; }
  METHOD void leave(int) const {}
};
#endif
#endif
