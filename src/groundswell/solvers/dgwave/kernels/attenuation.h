// Attenuation: memory variables of a generalised Maxwell body at each node. Mechanism l has the
// relaxation frequency omega_l. Its variable theta_l follows the strain rate e and reduces the
// stress rate:
//   d theta_l / dt = omega_l (e - theta_l),   d S / dt = M e - sum_l M_l theta_l
// with unrelaxed moduli M. Kaeser, Dumbser, de la Puente & Igel, Geophys. J. Int. 168:224, 2007,
// doi:10.1111/j.1365-246X.2006.03193.x.
#pragma once
#include "scheme.h"

#if MECHANISMS
//   theta, r [elements][MECHANISMS][STRAINS][CUBE]: the variables, and the register of the
//     low-storage scheme
//   rates [MECHANISMS]: omega, 1/s
//   relaxed [elements][MECHANISMS]: M_l or, with NODAL, its fraction of the nodal moduli
#if NODAL
typedef Shares RelaxedEntry;
#else
typedef Relaxed<real> RelaxedEntry;
#endif
struct Memory {
  real *theta, *r;
  const real* rates;
  const RelaxedEntry* relaxed;

  // Subtracts the stress rates of the mechanisms at node `place` of element e, and advances the
  // memory variables. On a CPU, a Value covers several nodes; `load` and `store` access it. decay:
  // damping rate, 1/s.
  template <class Value, class Modulus, class Load, class Store>
  METHOD void advance(index_t e, int place, const Stage& stage, const Moduli<Modulus>& m,
                      const Slopes<Value>& slopes, Value decay, const Load& load,
                      const Store& store, Value (&field_rates)[FIELDS]) const {
    const real a = static_cast<real>(stage.a), b = static_cast<real>(stage.b);
    Value strain[STRAINS];
    strain_rates(slopes, strain);
    for (int l = 0; l < MECHANISMS; ++l) {
      const index_t first = (e * MECHANISMS + l) * (STRAINS * CUBE) + place;
      Value old[STRAINS], slope[STRAINS];
      load_all(theta + first, CUBE, load, old);
      UNROLL
      for (int c = 0; c < STRAINS; ++c)
        slope[c] = FMA(-decay, old[c], rates[l] * (strain[c] - old[c]));
      advance_variables(a, b, slope, old, CUBE, r + first, theta + first, load, store);
#if NODAL
      take_off(relax(m, relaxed[e * MECHANISMS + l]), old, field_rates);
#else
      take_off(relaxed[e * MECHANISMS + l], old, field_rates);
#endif
    }
  }
};

#define MEMORY_ARGUMENTS \
  , real *theta, real *memory_register, const real *relaxation_rates, const RelaxedEntry *relaxed
#define MEMORY_TERM \
  , { theta, memory_register, relaxation_rates, relaxed }
#else
#define MEMORY_ARGUMENTS
#define MEMORY_TERM
#endif
