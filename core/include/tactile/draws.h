// Random numbers computed from a key and a counter, regardless of order, thread and environment. Only hashes,
// additions and multiplications are used, which all processors round identically.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tactile {

constexpr uint64_t kGolden = 0x9E3779B97F4A7C15;

// Hash of 64 bits: the finalizer of SplitMix64 (Steele et al. 2014).
inline uint64_t mix(uint64_t bits) {
  bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9;
  bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EB;
  return bits ^ (bits >> 31);
}

// Hash of 32 bits, as in Wellons' `lowbias32`.
inline uint32_t hash32(uint32_t bits) {
  bits = (bits ^ (bits >> 16)) * 0x7FEB352Du;
  bits = (bits ^ (bits >> 15)) * 0x846CA68Bu;
  return bits ^ (bits >> 16);
}

// Key derived from another key and a number, such as a step.
inline uint64_t stream(uint64_t key, uint64_t number) { return mix(mix(key + kGolden) + number * kGolden); }

// The 64 random bits of a key and a counter.
inline uint64_t entry(uint64_t key, uint64_t counter) { return mix(key + counter * kGolden); }

// Convert the upper 32 bits to a number in (0, 1).
inline double upper(uint64_t bits) {
  return (static_cast<double>(static_cast<int64_t>(bits >> 32)) + 0.5) * 0x1p-32;
}

// Number of consecutive counters whose normally distributed numbers are drawn together.
constexpr int64_t kNormalBlock = 64;
// Period of the table of normally distributed numbers, which has kNormalPeriod + kNormalBlock entries.
constexpr int64_t kNormalPeriod = 4096;

// Add normally distributed numbers with this standard deviation to `out` (n,). The numbers of a block of
// consecutive counters are half the sum of four parts of the table, which begin at random places. They are
// uncorrelated, because those of the table are. `place`, 0 to 15, selects one of several independent sequences.
void add_normal(const float* table, uint64_t key, int64_t first, int64_t place, float deviation, float* out,
                int64_t n);

// Draw standard normal numbers (n,) as multiples of 1/4096.
void draw_normal(const float* table, uint64_t key, int64_t place, int16_t* out, int64_t n);

}  // namespace tactile
