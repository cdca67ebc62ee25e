// OpenMP's threads behind the functions of thread_team.h, for users who control OpenMP's threads.
#include <omp.h>

extern "C" {
void GOMP_parallel(void (*body)(void*), void* data, unsigned threads, unsigned flags);

void team_parallel(void (*body)(void*), void* data, unsigned threads, unsigned flags) {
  GOMP_parallel(body, data, threads, flags);
}
int team_size() { return omp_get_num_threads(); }
int team_number() { return omp_get_thread_num(); }
void team_resize(int count) { omp_set_num_threads(count); }
}
