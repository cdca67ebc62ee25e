// Yield of rock: Drucker-Prager with viscoplastic relaxation, without change of volume.
//
// seismology/plasticity/ states the formulas, units and sources. Tension is positive. Stresses are
// those of the whole state, initial and dynamic.
#pragma once
#include "portable.h"

// Of cohesion c and friction angle phi: c cos(phi), Pa, and sin(phi). Rock with infinite cohesion
// never yields.
struct Strength {
  real cohesion_cos, sine;
};

// Strength Y under a mean stress plus fluid pressure, Pa; a NaN remains one.
INLINE real yield_strength(real mean, const Strength& rock) {
  const real bound = FMA(-mean, rock.sine, rock.cohesion_cos);
  return bound < REAL(0) ? REAL(0) : bound;
}

// The part of a deviator that a step removes: 0 where tau = sqrt(J2) does not exceed the strength,
// else (1 - remembered) (1 - Y / tau), less than 1. `remembered` is exp(-dt / relaxation time), 0
// without relaxation. With this part, sums have no rounding errors where nearly nothing yields.
INLINE real yielded_part(real tau, real strength, real remembered) {
  return tau <= strength ? REAL(0) : (REAL(1) - remembered) * (REAL(1) - strength / tau);
}

// The factor of the deviator, 1 where the rock does not yield.
INLINE real yield_factor(real mean, real j2, const Strength& rock, real remembered) {
  return REAL(1) - yielded_part(sqrt(j2), yield_strength(mean, rock), remembered);
}
