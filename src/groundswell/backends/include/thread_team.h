// The threads that run the parallel loops of kernels, in place of OpenMP's own.
//
// OpenMP's threads either spin at barriers, which wastes the time slices of a busy machine, or
// sleep, which doubles the time of short loops on an idle one. These threads spin as long as no
// other thread wants their cores. Linux counts how long a runnable thread has waited for a core.
//
// This file is a library of its own. Kernels reach it by the three pointers of ThreadTeam in
// portable.h.
#if defined(__clang__)  // its parallel loops call functions of its own OpenMP
#include "openmp_team.h"
#else
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

namespace {

typedef void (*Body)(void*);
typedef std::atomic<uint32_t> Word;

constexpr long long MILLISECOND = 1000000;           // ns
constexpr long long LONGEST_SPIN = 5 * MILLISECOND;  // to sleep and wake up takes a hundredth of it
// A thread is crowded if it waited for a core for a quarter of an interval. It then sleeps instead
// of spinning for some intervals, twice as many each time, as spinning may have lowered its
// priority.
constexpr long long INTERVAL = 20 * MILLISECOND, TOO_LONG = INTERVAL / 4;
constexpr int MOST_INTERVALS = 64;
constexpr int PAUSES = 32;  // between two readings of the clock

inline long long nanoseconds() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

// How long this thread has waited for a core until now, ns; see proc_pid_schedstat(5). 0 if
// unknown.
inline long long waited_for_core() {
  char text[64] = {0};
  const int file = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  const bool is_read = read(file, text, sizeof text - 1) > 0;
  close(file);
  char* second = text;
  strtoll(text, &second, 10);
  return is_read ? strtoll(second, nullptr, 10) : 0;
}

inline void pause_core() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
}

inline void sleep_while(Word& word, uint32_t value) {
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), FUTEX_WAIT_PRIVATE, value, nullptr,
          nullptr, 0);
}

inline void wake(Word& word, int count) {
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), FUTEX_WAKE_PRIVATE, count, nullptr,
          nullptr, 0);
}

// A word that threads wait for.
struct alignas(64) Awaited {
  Word value{0};
  std::atomic<int> sleepers{0};

  void wake_sleepers() {
    if (sleepers.load()) wake(value, 1 << 30);
  }
};

// How one thread waits. The threads of a team share the number of those that are crowded: a thread
// that spins on a free core keeps it from a crowded one.
class Waiter {
 public:
  explicit Waiter(std::atomic<int>& crowded) : crowded_(crowded) {}
  ~Waiter() { set(false); }

  // Waits until the word differs from `old`.
  void wait(Awaited& word, uint32_t old) {
    if (spin(word.value, old)) return;
    ++word.sleepers;
    while (word.value.load() == old) sleep_while(word.value, old);
    --word.sleepers;
  }

 private:
  bool spin(const Word& word, uint32_t old) {
    for (int n = 0; !crowded_.load(std::memory_order_relaxed) && n < PAUSES; ++n) {
      if (word.load(std::memory_order_acquire) != old) return true;
      pause_core();
    }
    const long long begun = nanoseconds();
    for (long long now = begun; now - begun < LONGEST_SPIN; now = nanoseconds()) {
      check_crowding(now);
      if (crowded_.load(std::memory_order_relaxed)) break;
      for (int n = 0; n < PAUSES; ++n) {
        if (word.load(std::memory_order_acquire) != old) return true;
        pause_core();
      }
    }
    return false;
  }

  void check_crowding(long long now) {
    const long long passed = now - since_;
    if (passed < INTERVAL * (is_crowded_ ? intervals_ : 1)) return;
    const long long waited = waited_for_core();
    const bool crowded =
        since_ && !is_crowded_ && (waited - waited_) * INTERVAL > TOO_LONG * passed;
    if (crowded) intervals_ = intervals_ < MOST_INTERVALS ? 2 * intervals_ : MOST_INTERVALS;
    else if (!is_crowded_ && intervals_ > 1) intervals_ /= 2;
    set(crowded);
    since_ = now;
    waited_ = waited;
  }

  void set(bool crowded) {
    if (crowded != is_crowded_) crowded_ += crowded ? 1 : -1;
    is_crowded_ = crowded;
  }

  std::atomic<int>& crowded_;
  bool is_crowded_ = false;
  int intervals_ = 1;
  long long since_ = 0, waited_ = 0;
};

thread_local int wanted = 1;               // threads of the loops that this thread launches
thread_local int number = 0, threads = 1;  // of this thread in the loop, and all of that loop
std::atomic<int> forks{0};                 // a forked process has none of its parent's threads

struct Place {
  const int number_before = number, threads_before = threads;
  Place(int n, int count) { number = n, threads = count; }
  ~Place() { number = number_before, threads = threads_before; }
};

class Team {
 public:
  explicit Team(int count) : waiter_(crowded_) {
    sigset_t all, before;  // only Python's threads handle signals
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (int n = 1; n < count; ++n) workers_.emplace_back(&Team::work, this, n);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  ~Team() {
    body_ = nullptr;
    begin();
    for (auto& worker : workers_) worker.join();
  }

  int size() const { return static_cast<int>(workers_.size()) + 1; }
  bool is_here() const { return forks_ == forks; }

  void run(Body body, void* data) {
    body_ = body;
    data_ = data;
    running_.value = size() - 1;
    begin();
    const Place place(0, size());
    body(data);
    while (const uint32_t left = running_.value.load(std::memory_order_acquire))
      waiter_.wait(running_, left);
  }

 private:
  void begin() {
    ++loop_.value;
    loop_.wake_sleepers();
  }

  void work(int n) {
    Waiter waiter(crowded_);
    for (uint32_t loop = 0;; ++loop) {
      waiter.wait(loop_, loop);
      if (!body_) return;
      {
        const Place place(n, size());
        body_(data_);
      }
      if (--running_.value == 0) running_.wake_sleepers();
    }
  }

  std::atomic<int> crowded_{0};
  Awaited loop_, running_;
  alignas(64) Body body_ = nullptr;
  void* data_ = nullptr;
  Waiter waiter_;
  std::vector<std::thread> workers_;
  const int forks_ = forks;
};

// The team of a launching thread, whose threads end with it.
struct Own {
  Team* team = nullptr;

  Team& of(int count) {
    if (team && (!team->is_here() || team->size() != count)) end();
    if (!team) team = new Team(count);
    return *team;
  }

  void end() {
    if (team && team->is_here()) delete team;
    team = nullptr;
  }

  ~Own() { end(); }
};
thread_local Own own;

const int REGISTERED = pthread_atfork(nullptr, nullptr, [] { ++forks; });

}  // namespace

extern "C" {

void team_parallel(Body body, void* data, unsigned asked, unsigned) {
  const int count = asked ? static_cast<int>(asked) : wanted;
  if (count > 1 && threads == 1) return own.of(count).run(body, data);
  const Place place(0, 1);
  body(data);
}

int team_size() { return threads; }
int team_number() { return number; }
void team_resize(int count) { wanted = count; }
}
#endif
