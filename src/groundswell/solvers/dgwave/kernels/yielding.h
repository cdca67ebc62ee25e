// Rock that yields: after each step, stress beyond the Drucker-Prager strength relaxes towards it at
// each node. Elements whose stress changes store their traces again.
#pragma once
#include "elements.h"
#include "seismology/kernels/drucker_prager.h"

// What yielding needs of a node, [rows][ROCK_VALUES][CUBE]: the strength without waves (the share of
// the mean initial stress is in it), the sine of the angle of friction and, with SHEARED, the
// deviator of the initial stress in the order of the fields.
enum { STRENGTH, SINE, DEVIATOR, ROCK_VALUES = SHEARED ? DEVIATOR + STRESSES : DEVIATOR };

// Arguments of the kernel:
//   rock: see above; rock_rows [elements]: row of each element, -1 if it does not yield
//   plastic_strain [elements][CUBE]: accumulated plastic strain
//   remembered [1]: exp(-dt / relaxation time)
struct Yielding {
  const real* rock;
  const int* rows;
  real* plastic_strain;
  real remembered;

  METHOD bool inside(index_t e) const { return rows[e] >= 0; }
  METHOD const real* rock_of(index_t e) const {
    return rock + static_cast<index_t>(rows[e]) * (ROCK_VALUES * CUBE);
  }
};

// The deviator of the whole stress at a node, and its mean without the initial stress.
struct NodeStress {
  real mean, deviator[STRESSES];

  // stress, rock: first values of the node.
  METHOD NodeStress(const real* stress, const real* rock) {
    mean = (stress[0] + stress[CUBE] + stress[2 * CUBE]) / 3;
    UNROLL
    for (int c = 0; c < STRESSES; ++c) {
      deviator[c] = c < 3 ? stress[c * CUBE] - mean : stress[c * CUBE];
      if (SHEARED) deviator[c] += rock[(DEVIATOR + c) * CUBE];
    }
  }

  // Half of the square of the deviator.
  METHOD real invariant() const {
    const auto& s = deviator;
    return (s[0] * s[0] + s[1] * s[1] + s[2] * s[2]) / 2 + s[3] * s[3] + s[4] * s[4] + s[5] * s[5];
  }
};

// The part of the deviator of a node that a step removes; 0 where it does not yield.
INLINE real yielded_at(const real* stress, const real* rock, real remembered) {
  const NodeStress now(stress, rock);
  const Strength own{rock[STRENGTH * CUBE], rock[SINE * CUBE]};
  return yielded_part(sqrt(now.invariant()), yield_strength(now.mean, own), remembered);
}

// Removes a part of the deviator of a node; returns the increment of plastic strain times 2 mu.
INLINE real relax(real* stress, const real* rock, real part) {
  const NodeStress now(stress, rock);
  UNROLL
  for (int c = 0; c < STRESSES; ++c) stress[c * CUBE] -= part * now.deviator[c];
  return part * sqrt(now.invariant());
}

// Sets a flag that the threads of a block share; on a CPU without a branch, so that the loop around
// it is vectorised.
INLINE void raise(int& flag, bool is_set) {
  if (!COALESCED) flag |= is_set;
  else if (is_set) flag = 1;
}

// Relaxes the stress in elements first to first + count - 1 after the last stage of a step.
KERNEL yield_rock(ELEMENT_ARGUMENTS, const real* RESTRICT rock, const int* RESTRICT rock_rows,
                  real* plastic_strain, const double* remembered, index_t stage, index_t first,
                  index_t count) {
  const Elements all ELEMENTS_AT(stage);
  const Yielding yielding{rock, rock_rows, plastic_strain, static_cast<real>(remembered[0])};
  FOR_BLOCKS(b, count) {
    const index_t e = first + b;
    if (yielding.inside(e)) {
      [[maybe_unused]] const FlushDenormals flush{};
      SHARED(real, parts, [CUBE]);
      SHARED(int, yields, [1]);
      real* const stress = all.u + e * PITCH_OF_ELEMENTS;
      const real* const own = yielding.rock_of(e);
      FOR_THREADS(n, 1) { yields[n] = 0; }
      BARRIER();
      FOR_THREADS(node, CUBE) {
        parts[node] = yielded_at(stress + node, own + node, yielding.remembered);
        raise(yields[0], parts[node] != 0);
      }
      BARRIER();
      if (yields[0]) {
        FOR_THREADS(node, CUBE) {
          if (parts[node] != 0) {
            const auto& m = all.moduli_at<real>(all.materials[e], e, node,
                                                [](const real* from) { return *from; });
            plastic_strain[e * CUBE + node] +=
                relax(stress + node, own + node, parts[node]) / (2 * m.mu);
          }
        }
        BARRIER();
        store_traces_of(all, e);
      }
    }
  }
}
