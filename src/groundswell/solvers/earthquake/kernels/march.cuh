// The two hot kernels for a GPU: a block owns a tile of columns and marches along z.
//
// What a difference along z needs travels with the thread in registers, so that each value leaves
// the L2 cache once a tile instead of once a neighbouring plane; neighbours along x and y come from
// the L1 cache. The arithmetic is that of update.h, operation for operation.
#include "signatures.h"

// Four consecutive values along z.
struct Column {
  real a, b, c, d;

  METHOD void push(real next) {
    a = b;
    b = c;
    c = d;
    d = next;
  }
  METHOD real derivative() const { return difference<STEP_Z>(a, b, c, d); }
};

// The column at planes k + first - 1 .. k + first + 1, ready to be pushed plane k + first + 2.
INLINE Column column_before(const real* f, int first) {
  return {REAL(0), f[(first - 1) * STEP_Z], f[first * STEP_Z], f[(first + 1) * STEP_Z]};
}

// Along x or y, with the value at the point itself already at hand.
template <index_t STEP> INLINE real backward(const real* RESTRICT f, real here) {
  return difference<STEP>(f[-2 * STEP], f[-STEP], here, f[STEP]);
}
template <index_t STEP> INLINE real forward(const real* RESTRICT f, real here) {
  return difference<STEP>(f[-STEP], here, f[STEP], f[2 * STEP]);
}

// Sums of a material value over pairs of cells in one plane; the plane above lends its own.
struct PlaneSums {
  real here, west, north, corner;
};
INLINE PlaneSums plane_sums(const real* RESTRICT f) {
  const real here = f[0], north = f[-STEP_Y];
  return {here, here + f[-STEP_X], here + north, north + f[-STEP_X - STEP_Y]};
}
INLINE EdgeSums edges_between(const PlaneSums& above, const PlaneSums& at) {
  return {at.west + at.corner, at.west + above.west, at.north + above.north};
}

INLINE InLayer layers_at(int i, int j, int k) {
  return {in_layer(i, NX, BEFORE_X, AFTER_X), in_layer(j, NY, BEFORE_Y, AFTER_Y),
          in_layer(k, NZ, BEFORE_Z, AFTER_Z)};
}

#define MARCH(i, j, begin, end)                                                  \
  const int i = blockIdx.x * TILE_X + threadIdx.x;                               \
  const int j = blockIdx.y * TILE_Y + threadIdx.y;                               \
  const int begin = blockIdx.z * TILE_PLANES;                                    \
  const int end = begin + TILE_PLANES < NZ ? begin + TILE_PLANES : NZ;           \
  if (i >= NX || j >= NY) return;

extern "C" __global__ void __launch_bounds__(TILE_X* TILE_Y)
    update_velocity(VELOCITY_ARGUMENTS) {
  MARCH(i, j, begin, end)
  const Layers layers{memory_x, memory_y, memory_z, profile_x, profile_y, profile_z};
  const Velocity v{vx, vy, vz};
  index_t c = cell_at(i, j, begin);
  Column xz = column_before(sxz + c, 0), yz = column_before(syz + c, 0);
  Column zz = column_before(szz + c, -1);
  real rho_above = rho[c - STEP_Z];
  for (int k = begin; k < end; ++k, c += STEP_Z) {
    xz.push(sxz[c + 2 * STEP_Z]);
    yz.push(syz[c + 2 * STEP_Z]);
    zz.push(szz[c + STEP_Z]);
    const real rho_here = rho[c], xy = sxy[c];
    StressDivergence d{
        backward<STEP_X>(sxx + c),      forward<STEP_Y>(sxy + c, xy),   xz.derivative(),
        forward<STEP_X>(sxy + c, xy),   backward<STEP_Y>(syy + c),      yz.derivative(),
        forward<STEP_X>(sxz + c, xz.b), forward<STEP_Y>(syz + c, yz.b), zz.derivative()};
    absorb(d, layers, i, j, k, layers_at(i, j, k));
    const FaceSums faces{rho_here + rho[c - STEP_X], rho_here + rho[c - STEP_Y],
                         rho_here + rho_above};
    advance_velocity(v, d, c, faces, sponge_factor(sponge, i, j, k));
    rho_above = rho_here;
  }
}

extern "C" __global__ void __launch_bounds__(TILE_X* TILE_Y) update_stress(STRESS_ARGUMENTS) {
  MARCH(i, j, begin, end)
  const Layers layers{memory_x, memory_y, memory_z, profile_x, profile_y, profile_z};
  const TensorField s{sxx, syy, szz, sxy, sxz, syz}, r{rxx, ryy, rzz, rxy, rxz, ryz};
  index_t c = cell_at(i, j, begin);
  Column x = column_before(vx + c, -1), y = column_before(vy + c, -1);
  Column z = column_before(vz + c, 0);
  PlaneSums soft_above = plane_sums(compliance + c - STEP_Z), q_above{};
#if ATTENUATION
  q_above = plane_sums(inverse_qs + c - STEP_Z);
  const Mechanism even = mechanism_at(mechanisms, i, j, 0), odd = mechanism_at(mechanisms, i, j, 1);
#endif
  for (int k = begin; k < end; ++k, c += STEP_Z) {
    x.push(vx[c + STEP_Z]);
    y.push(vy[c + STEP_Z]);
    z.push(vz[c + 2 * STEP_Z]);
    VelocityGradient d{forward<STEP_X>(vx + c, x.c),  forward<STEP_Y>(vy + c, y.c),
                       z.derivative(),                backward<STEP_Y>(vx + c, x.c),
                       backward<STEP_X>(vy + c, y.c), x.derivative(),
                       backward<STEP_X>(vz + c, z.b), y.derivative(),
                       backward<STEP_Y>(vz + c, z.b)};
    absorb(d, layers, i, j, k, layers_at(i, j, k));
    const PlaneSums soft = plane_sums(compliance + c);
    Matter matter{lam[c], soft.here, 0, 0, edges_between(soft_above, soft), {}};
    soft_above = soft;
    Mechanism m{};
#if ATTENUATION
    const PlaneSums q = plane_sums(inverse_qs + c);
    matter.inverse_qp = inverse_qp[c];
    matter.inverse_qs = q.here;
    matter.edge_inverse_qs = edges_between(q_above, q);
    q_above = q;
    m = (k & 1) ? odd : even;
#endif
    advance_stress(s, r, d, c, k, matter, m, sponge_factor(sponge, i, j, k));
  }
}
