// Four numbers at a time.
//
// A sum over an array has one partial sum for each lane, and these are added in a fixed order. Results are
// therefore the same on all machines, whether or not they have vector registers of this size.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace tactile {

constexpr int kLanes = 4;

using Lanes = double __attribute__((vector_size(kLanes * sizeof(double))));
using Mask = int64_t __attribute__((vector_size(kLanes * sizeof(double))));  // -1 where true, else 0

// Copied from and to memory of any alignment. References avoid calls whose registers depend on the machine.
inline void load(Lanes& lanes, const double* from) { std::memcpy(&lanes, from, sizeof(lanes)); }
inline void store(double* to, const Lanes& lanes) { std::memcpy(to, &lanes, sizeof(lanes)); }
inline double sum(const Lanes& lanes) { return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]); }
// The square root of numbers >= 0, and 0 of others.
inline void square_root(Lanes& root, const Lanes& of) {
  for (int i = 0; i < kLanes; ++i) root[i] = std::sqrt(of[i] > 0.0 ? of[i] : 0.0);
}
inline double largest(const Lanes& lanes) {
  return std::max(std::max(lanes[0], lanes[1]), std::max(lanes[2], lanes[3]));
}

}  // namespace tactile

// Compile a function also for processors with AVX2, and choose when the library is loaded. Results are the same.
#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define TACTILE_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define TACTILE_WIDE
#endif
