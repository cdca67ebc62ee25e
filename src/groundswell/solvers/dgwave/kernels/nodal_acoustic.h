// Acoustic waves in elements whose material varies from node to node.
#pragma once

template <class Value, class Load>
INLINE Moduli<Value> load_moduli(const real* from, const Load& load) {
  return {load(from), load(from + CUBE)};
}

INLINE Impedances impedances_of(const Moduli<real>& m) { return {sqrt(m.bulk / m.buoyancy)}; }
INLINE Impedances impedances_from(const real* from) { return {*from}; }

INLINE Weights weigh(const Impedances& own, const Impedances& other) {
  const real weight = 1 / (own.z + other.z);
  return {weight, weight * other.z};
}

template <class Value> INLINE Relaxed<Value> relax(const Moduli<Value>& m, const Shares& shares) {
  return {shares.p * m.bulk};
}
