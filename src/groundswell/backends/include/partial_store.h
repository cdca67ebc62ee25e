// store_first(to, count, vector) stores the first `count` values of a vector of a CPU.
#pragma once
#include <string.h>

template <class Value, class Vector>
INLINE void store_first(Value* to, int count, const Vector& v) {
  memcpy(to, &v, count * sizeof(Value));
}

#if defined(__AVX512VL__)
#include <immintrin.h>
INLINE void store_first(double* to, int count, const __m128d& v) {
  _mm_mask_storeu_pd(to, (1 << count) - 1, v);
}
INLINE void store_first(double* to, int count, const __m256d& v) {
  _mm256_mask_storeu_pd(to, (1 << count) - 1, v);
}
INLINE void store_first(double* to, int count, const __m512d& v) {
  _mm512_mask_storeu_pd(to, (1 << count) - 1, v);
}
INLINE void store_first(float* to, int count, const __m128& v) {
  _mm_mask_storeu_ps(to, (1 << count) - 1, v);
}
INLINE void store_first(float* to, int count, const __m256& v) {
  _mm256_mask_storeu_ps(to, (1 << count) - 1, v);
}
INLINE void store_first(float* to, int count, const __m512& v) {
  _mm512_mask_storeu_ps(to, (1 << count) - 1, v);
}
#endif
