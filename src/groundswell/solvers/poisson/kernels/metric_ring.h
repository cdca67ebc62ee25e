// What the GPU kernels of the operator have in common: the table of derivatives in shared memory,
// and a ring buffer through which planes of a stored metric arrive while earlier planes are
// processed.
#pragma once
#include "metric.h"

#if defined(__CUDACC__)
#include "bulk_copy.h"

constexpr int WARP = 32;
constexpr int ROW_PITCH = NODES | 1;  // rows of shared tables start in different banks

INLINE void share_derivative(real (&d)[NODES][ROW_PITCH]) {
  for (int n = threadIdx.x; n < PLANE; n += blockDim.x)
    d[n / NODES][n % NODES] = DERIVATIVE_AT[n / NODES][n % NODES];
}

#if GEOMETRY == 0 && RING > 0 && HAS_BULK_COPY
// RING planes of each element's metric are in shared memory or on their way there. If RING is
// NODES, the whole metric arrives in one piece. Otherwise each plane has a slot, which is refilled
// once it was read.
constexpr int AT_ONCE = RING < NODES ? 1 : NODES;  // planes that arrive together
constexpr int SLOTS = RING / AT_ONCE, SLOT = AT_ONCE * PLANE_PITCH;
constexpr int RING_VALUES = ELEMENTS * SLOTS * SLOT;
static_assert(RING <= NODES, "an element has NODES planes");
static_assert(RUN == PLANE && RUN_PITCH * sizeof(real) % 16 == 0,
              "bulk copies need multiples of 16 bytes");

// A Line whose metric is in the ring.
struct ArrivedLine {
  const real* first;

  METHOD Metric at(int t) const { return stored_metric(first + t % RING * PLANE_PITCH); }
};

// Shared by all threads of `warps` warps. `memory`, (ELEMENTS, SLOTS, SLOT), is aligned to 16
// bytes.
struct Ring {
  const Operands& operands;
  const int* elements;
  int count, warps;
  real* memory;

  // Called by the whole block: one thread per element requests its first planes.
  METHOD void start() const {
    const int n = threadIdx.x;
    if (n == 0 && operands.component == 0) open();
    __syncthreads();
    // If the ring holds all planes, the metric is still there after the first component.
    if (n >= count || (AT_ONCE == NODES && operands.component > 0)) return;
    const real* const from = metric_of(n);
    fence_async_proxy();
    for (int slot = 0; slot < SLOTS; ++slot) {
      if (n == 0) expect(slot);
      request(n, from, slot);
    }
  }

  // Waits until plane t can be read.
  METHOD void await(int t) const {
    const int slot = t / AT_ONCE % SLOTS, fillings = (NODES - slot + RING - 1) / RING;
    const int before = AT_ONCE == NODES ? 0 : operands.component * fillings + t / RING;
    if (t % AT_ONCE == 0) wait_mbarrier(arrivals() + slot, before % 2);
  }

  METHOD ArrivedLine line(int n, index_t, int s, int r) const {
    return {memory + n * SLOTS * SLOT + s * NODES + r};
  }

  // Called after plane t was read: the last warp refills the slot.
  METHOD void release(int t) const {
    if (t + RING >= NODES) return;
    __syncwarp();
    if (threadIdx.x % WARP > 0 || !is_last_arrival(readers() + t % SLOTS, warps)) return;
    fence_async_proxy();
    expect(t + RING);
    for (int n = 0; n < count; ++n) request(n, metric_of(n), t + RING);
  }

  METHOD static mbarrier_t* arrivals() {
    SHARED(mbarrier_t, of_slots, [SLOTS]);
    return of_slots;
  }
  METHOD static unsigned* readers() {
    SHARED(unsigned, of_slots, [SLOTS]);
    return of_slots;
  }
  METHOD void open() const {
    for (int slot = 0; slot < SLOTS; ++slot) {
      init_mbarrier(arrivals() + slot);
      readers()[slot] = 0;
    }
  }
  METHOD const real* metric_of(int n) const {
    return operands.geometry + static_cast<index_t>(elements[n]) * ELEMENT_PITCH;
  }
  METHOD void expect(int filling) const {
    expect_bytes(arrivals() + filling % SLOTS, count * SLOT * static_cast<int>(sizeof(real)));
  }
  METHOD void request(int n, const real* from, int filling) const {
    real* const slot = memory + (n * SLOTS + filling % SLOTS) * SLOT;
    bulk_copy(slot, from + filling * SLOT, SLOT * sizeof(real), arrivals() + filling % SLOTS);
  }
};
#else
constexpr int RING_VALUES = 0;

// Without a ring: the metric of each node is read or computed when it is needed.
struct Ring {
  const Operands& operands;
  const int* elements;
  int count, warps;
  real* memory;

  METHOD void start() const {}
  METHOD void await(int) const {}
  METHOD Line line(int, index_t e, int s, int r) const { return {operands.geometry, e, s, r}; }
  METHOD void release(int) const {}
};
#endif
#endif
