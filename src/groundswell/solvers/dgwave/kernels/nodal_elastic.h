// Elastic waves in elements whose material varies from node to node.
#pragma once

template <class Value, class Load>
INLINE Moduli<Value> load_moduli(const real* from, const Load& load) {
  return {load(from), load(from + CUBE), load(from + 2 * CUBE)};
}

INLINE Impedances impedances_of(const Moduli<real>& m) {
  return {sqrt((m.lam + 2 * m.mu) / m.buoyancy), sqrt(m.mu / m.buoyancy)};
}
INLINE Impedances impedances_from(const real* from) { return {from[0], from[PLANE]}; }

INLINE Weights weigh(const Impedances& own, const Impedances& other) {
  const real p = 1 / (own.zp + other.zp), s = own.zs > 0 ? 1 / (own.zs + other.zs) : REAL(0);
  return {p, p * other.zp, s, s * other.zs};
}

template <class Value> INLINE Relaxed<Value> relax(const Moduli<Value>& m, const Shares& shares) {
  const Value mu = shares.s * m.mu;
  return {shares.p * (m.lam + 2 * m.mu) - 2 * mu, mu};
}
