#include "stages.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "tactile/draws.h"

namespace tactile {
namespace {

// Tolerance for rounding errors, so that 1.1 s / 0.1 s is 11 steps.
constexpr double kSlack = 1e-9;

void copy(const float* from, float* to, int64_t n) { std::memcpy(to, from, n * sizeof(float)); }

// The next taxels of a range, from `begin` on, whose blocks have at least this state.
TaxelRange next_awake(const Workspace& w, int64_t begin, int64_t end, uint8_t least) {
  const int64_t last = (end + kRest - 1) / kRest;
  int64_t block = begin / kRest;
  while (block < last && w.awake[block] < least) ++block;
  const int64_t start = std::min(std::max(begin, block * kRest), end);
  while (block < last && w.awake[block] >= least) ++block;
  return {start, std::min(std::max(start, block * kRest), end), 0};
}

// Squared magnitudes (n,) of the readings of taxels from `begin` on.
void squares(Workspace& w, int64_t begin, int64_t n, float* __restrict out) {
  if (w.channels == 3) {
    const float *x = w.row(0) + begin, *y = w.row(1) + begin, *z = w.row(2) + begin;
    for (int64_t i = 0; i < n; ++i) out[i] = x[i] * x[i] + y[i] * y[i] + z[i] * z[i];
    return;
  }
  std::fill_n(out, n, 0.0f);
  for (int64_t c = 0; c < w.channels; ++c) {
    const float* row = w.row(c) + begin;
    for (int64_t i = 0; i < n; ++i) out[i] += row[i] * row[i];
  }
}

// Memory with one value for each channel and taxel.
size_t values_bytes(const Stage& stage, int64_t channels, int64_t) {
  return channels * stage.taxels() * sizeof(float);
}

size_t no_bytes(const Stage&, int64_t, int64_t) { return 0; }

size_t stored_bytes(const Stage& stage, int64_t channels, int64_t = 0) {
  return channels * stage.taxels() * (stage.codes ? sizeof(uint16_t) : sizeof(float));
}

// Store values (n,) as codes or float32, behind `place` other values.
void save(const float* __restrict values, int64_t n, unsigned char* memory, int64_t place, const Codes& codes) {
  if (!codes) return copy(values, reinterpret_cast<float*>(memory) + place, n);
  uint16_t* __restrict out = reinterpret_cast<uint16_t*>(memory) + place;
  const float per_step = static_cast<float>(1.0 / codes.step), least = static_cast<float>(codes.least);
  for (int64_t i = 0; i < n; ++i) {
    out[i] = static_cast<uint16_t>(static_cast<int32_t>(std::rint(values[i] * per_step) - least));
  }
}

// Read values that `save` has stored, rounded as by `quantisation`.
void load(const unsigned char* memory, int64_t place, const Codes& codes, float* __restrict values, int64_t n) {
  if (!codes) return copy(reinterpret_cast<const float*>(memory) + place, values, n);
  const uint16_t* __restrict in = reinterpret_cast<const uint16_t*>(memory) + place;
  const float least = static_cast<float>(codes.least);
  for (int64_t i = 0; i < n; ++i) {
    values[i] = static_cast<float>(static_cast<double>(static_cast<float>(in[i]) + least) * codes.step);
  }
}

// --- Cover and receptors -----------------------------------------------------------------------------------

// integers: begin of the list of receivers of each taxel, and the end; receivers of all taxels, in the skin.
// constants: fractions that stay on each taxel; fractions that the receivers get.
void cross_talk(StageCall& s) {
  Workspace& w = s.w;
  const int64_t taxels = s.stage.taxels();
  const int32_t *begins = s.stage.integers.data(), *receivers = begins + taxels + 1;
  const float *stays = s.constants, *weights = stays + taxels;
  int32_t *loaded = w.indices.data(), *places = loaded + w.taxels;
  float* loads = w.work.data();
  int64_t number = 0;
  for (const TaxelRange& run : s.stage.runs) {
    for (TaxelRange span = next_awake(w, run.begin, run.end, kLoaded); span.size();
         span = next_awake(w, span.end, run.end, kLoaded)) {
      for (int64_t t = span.begin; t < span.end; ++t) {
        bool has_load = false;
        for (int64_t c = 0; c < w.channels; ++c) {
          const float load = w.row(c)[t];
          loads[c * w.taxels + number] = load;
          has_load |= load != 0.0f;
        }
        loaded[number] = static_cast<int32_t>(t);
        places[number] = static_cast<int32_t>(run.first + t - run.begin);
        number += has_load;
      }
    }
  }
  for (int64_t n = 0; n < number; ++n) {
    const int32_t k = places[n], begin = begins[k], end = begins[k + 1];
    for (int64_t c = 0; c < w.channels; ++c) {
      float* row = w.row(c);
      const float load = loads[c * w.taxels + n];
      row[loaded[n]] += (stays[k] - 1.0f) * load;
      for (int32_t e = begin; e < end; ++e) row[receivers[e]] += weights[e] * load;
    }
    for (int32_t e = begin; e < end; ++e) {
      uint8_t& state = w.awake[receivers[e] / kRest];
      if (!state) state = kAwake;
    }
  }
}

// Fraction of the load by which the lag may exceed its maximum before the reading changes. Without this
// tolerance, rounding errors would change the reading while the load is constant.
constexpr float kTolerance = 1e-6f;

// Play operator with dry friction proportional to the load, as in Coulomb's law. The reading is constant while it
// is within fraction * |x| of the load x; otherwise it moves to the nearest such point. It rises as
// (1 - fraction) x, falls as (1 + fraction) x, and is zero without load. For vectors the interval is a ball, so
// that no direction is special. Visintin, Differential Models of Hysteresis (1994), III.2.
// Memory: the last reading (channels, taxels).
void hysteresis(StageCall& s) {
  Workspace& w = s.w;
  const int64_t taxels = s.stage.taxels();
  float* last = reinterpret_cast<float*>(s.memory);
  for (size_t b = 0; b < s.stage.runs.size(); ++b) {
    const TaxelRange& run = s.stage.runs[b];
    const float fraction = s.single(b, 0);
    for (TaxelRange span = next_awake(w, run.begin, run.end, kAwake); span.size();
         span = next_awake(w, span.end, run.end, kAwake)) {
      const int64_t n = span.size(), place = run.first + span.begin - run.begin;
      float *__restrict ratios = w.work.data(), *__restrict apart = ratios + w.taxels;
      squares(w, span.begin, n, ratios);
      std::fill_n(apart, n, 0.0f);
      for (int64_t c = 0; c < w.channels; ++c) {
        const float *row = w.row(c) + span.begin, *before = last + c * taxels + place;
        if (s.stage.recalled) copy(before, w.last.data() + c * w.taxels + span.begin, n);
        for (int64_t i = 0; i < n; ++i) {
          const float distance = before[i] - row[i];
          apart[i] += distance * distance;
        }
      }
      for (int64_t i = 0; i < n; ++i) {
        const float load_per_lag = std::sqrt(ratios[i] / apart[i]);
        const bool moves = (fraction + kTolerance) * load_per_lag < 1.0f;
        ratios[i] = moves ? fraction * load_per_lag : 1.0f;
      }
      for (int64_t c = 0; c < w.channels; ++c) {
        float *__restrict row = w.row(c) + span.begin, *__restrict before = last + c * taxels + place;
        for (int64_t i = 0; i < n; ++i) {
          const float moved = row[i] + (before[i] - row[i]) * ratios[i];
          row[i] = ratios[i] < 1.0f ? moved : before[i];
        }
        if (s.now.keep) copy(row, before, n);
      }
    }
  }
}

// First-order lag between two readings, of a load x and y with T dy/dt = x - y. Loads are linear between readings,
// except that a load that appears or disappears does so at the reading. For such loads, the lag x - y is exact.
struct Lag {
  Lag(double interval, double time_constant) {
    const double lost = -std::expm1(-interval / time_constant);
    gain = static_cast<float>(lost);
    ramp = interval > 0.0 ? static_cast<float>(lost * (time_constant / interval)) : 1.0f;
  }
  float after(float lag, float change, float share) const { return lag - gain * lag + share * change; }

  float gain;  // share of a lag that is lost between the readings
  float ramp;  // share of a linear change of the load that is a lag at the end
};

// Share of the change of each taxel's load that is a lag at the end, for n taxels of `w` from `begin` on.
// `loads(c)`: loads of channel c before the change.
template <class Loads>
void changes(Workspace& w, int64_t begin, int64_t n, const Lag& lag, const Loads& loads, float* __restrict shares) {
  const auto share = [&lag](bool loaded, bool will_be) { return loaded & will_be ? lag.ramp : 1.0f; };
  if (w.channels == 3) {
    const float *x = w.row(0) + begin, *y = w.row(1) + begin, *z = w.row(2) + begin;
    const float *a = loads(0), *b = loads(1), *c = loads(2);
    for (int64_t i = 0; i < n; ++i) {
      shares[i] = share((a[i] != 0.0f) | (b[i] != 0.0f) | (c[i] != 0.0f), (x[i] != 0.0f) | (y[i] != 0.0f) | (z[i] != 0.0f));
    }
    return;
  }
  for (int64_t i = 0; i < n; ++i) {
    bool loaded = false, will_be = false;
    for (int64_t c = 0; c < w.channels; ++c) {
      loaded |= loads(c)[i] != 0.0f;
      will_be |= w.row(c)[begin + i] != 0.0f;
    }
    shares[i] = share(loaded, will_be);
  }
}

size_t filter_bytes(const Stage& stage, int64_t channels, int64_t taxels) {
  return (stage.linked ? 1 : 2) * values_bytes(stage, channels, taxels);
}

// First-order filter of the load x. The output is own * x - late * (x - y), where y follows the load, see Lag.
// constants: own, late and T of each run.
// Memory: the lag x - y (channels, taxels) and, unless linked, the last load x. Under a constant load, the lag
// decays to zero without loss of precision, however short the interval is compared to T.
void filter(StageCall& s) {
  Workspace& w = s.w;
  const int64_t taxels = s.stage.taxels();
  float *all_lags = reinterpret_cast<float*>(s.memory), *all_loads = all_lags + w.channels * taxels;
  for (size_t b = 0; b < s.stage.runs.size(); ++b) {
    const TaxelRange& run = s.stage.runs[b];
    const float own = s.constants[3 * b], late = s.constants[3 * b + 1];
    const Lag lag(s.now.interval, s.constants[3 * b + 2]);
    for (TaxelRange span = next_awake(w, run.begin, run.end, kAwake); span.size();
         span = next_awake(w, span.end, run.end, kAwake)) {
      const int64_t n = span.size(), place = run.first + span.begin - run.begin;
      const auto last = [&](int64_t c) { return w.last.data() + c * w.taxels + span.begin; };
      const auto loads = [&](int64_t c) { return s.stage.linked ? last(c) : all_loads + c * taxels + place; };
      float *__restrict shares = w.work.data(), *__restrict before = shares + 2 * w.taxels;
      changes(w, span.begin, n, lag, loads, shares);
      for (int64_t c = 0; c < w.channels; ++c) {
        float *__restrict row = w.row(c) + span.begin, *__restrict lags = all_lags + c * taxels + place;
        float* __restrict load = loads(c);
        if (s.stage.recalled) {  // before the loop below, which can overwrite `last`
          for (int64_t i = 0; i < n; ++i) before[i] = own * load[i] - late * lags[i];
        }
        if (s.now.keep) {
          for (int64_t i = 0; i < n; ++i) {
            const float x = row[i], next = lag.after(lags[i], x - load[i], shares[i]);
            row[i] = own * x - late * next;
            load[i] = x, lags[i] = next;
          }
        } else {
          for (int64_t i = 0; i < n; ++i) {
            row[i] = own * row[i] - late * lag.after(lags[i], row[i] - load[i], shares[i]);
          }
        }
        if (s.stage.recalled) copy(before, last(c), n);
      }
    }
  }
}

// --- Amplifier ---------------------------------------------------------------------------------------------

// Value of each taxel of a run: from `constants`, if there are any, or the run's first parameter.
void fill_values(const StageCall& s, size_t b, float* out) {
  const TaxelRange& run = s.stage.runs[b];
  if (s.stage.constants.empty()) {
    std::fill_n(out, run.size(), s.single(b, 0));
  } else {
    copy(s.constants + run.first, out, run.size());
  }
}

// Random deviation of each taxel of a run, if there are any, scaled by the run's second parameter.
void fill_deviations(const StageCall& s, size_t b, int64_t column, float* __restrict out) {
  const TaxelRange& run = s.stage.runs[b];
  if (s.stage.deviations.empty()) {
    std::fill_n(out, run.size(), 0.0f);
    return;
  }
  const int16_t* drawn = s.deviations + column * s.stage.taxels() + run.first;
  const float size = static_cast<float>(s.parameter(b, 1) * 0x1p-12);
  for (int64_t i = 0; i < run.size(); ++i) out[i] = size * static_cast<float>(drawn[i]);
}

void gain(StageCall& s) {
  Workspace& w = s.w;
  for (size_t b = 0; b < s.stage.runs.size(); ++b) {
    const TaxelRange& run = s.stage.runs[b];
    const int64_t n = run.size();
    float *__restrict factors = w.work.data(), *__restrict deviations = factors + w.taxels;
    fill_values(s, b, factors);
    fill_deviations(s, b, 0, deviations);
    const int64_t taxels = s.stage.taxels();
    if (static_cast<int64_t>(s.constant_count) > taxels) {  // a curve for each taxel
      const float *second = s.constants + taxels + run.first, *third = second + taxels, most = s.single(b, 2);
      for (int64_t c = 0; c < w.channels; ++c) {
        float* __restrict row = w.row(c) + run.begin;
        for (int64_t i = 0; i < n; ++i) {
          const float x = std::min(std::max(row[i], -most), most), size = std::abs(x);
          row[i] = x * (factors[i] + size * (second[i] + size * third[i])) * (1.0f + deviations[i]);
        }
      }
      continue;
    }
    for (int64_t i = 0; i < n; ++i) factors[i] *= 1.0f + deviations[i];
    for (int64_t c = 0; c < w.channels; ++c) {
      float* __restrict row = w.row(c) + run.begin;
      for (int64_t i = 0; i < n; ++i) row[i] *= factors[i];
    }
  }
}

void offset(StageCall& s) {
  Workspace& w = s.w;
  for (size_t b = 0; b < s.stage.runs.size(); ++b) {
    const TaxelRange& run = s.stage.runs[b];
    float *__restrict offsets = w.work.data(), *__restrict deviations = offsets + w.taxels;
    fill_values(s, b, offsets);
    for (int64_t c = 0; c < w.channels; ++c) {
      fill_deviations(s, b, c, deviations);
      float* __restrict row = w.row(c) + run.begin;
      for (int64_t i = 0; i < run.size(); ++i) row[i] += offsets[i] + deviations[i];
    }
  }
}

// Memory: the drift (channels, taxels).
void drift(StageCall& s) {
  Workspace& w = s.w;
  const int64_t taxels = s.stage.taxels();
  for (size_t b = 0; b < s.stage.runs.size(); ++b) {
    const TaxelRange& run = s.stage.runs[b];
    const double rate = s.parameter(b, 0), time = s.parameter(b, 1), interval = s.now.interval;
    double size = rate * std::sqrt(interval), kept = 1.0;
    if (time > 0.0) {  // exact for any interval; the first reading is drawn from the stationary distribution
      kept = s.now.first ? 0.0 : std::exp(-interval / time);
      size = rate * std::sqrt(0.5 * time * (s.now.first ? 1.0 : -std::expm1(-2.0 * interval / time)));
    }
    for (int64_t c = 0; c < w.channels; ++c) {
      float* walk = reinterpret_cast<float*>(s.memory) + c * taxels + run.first;
      if (!s.now.keep) {
        copy(walk, w.work.data(), run.size());
        walk = w.work.data();
      }
      for (int64_t i = 0; i < run.size(); ++i) walk[i] *= static_cast<float>(kept);
      if (size > 0.0) {
        add_normal(s.normals, s.now.key, run.begin, c, static_cast<float>(size), walk, run.size());
      }
      float* __restrict row = w.row(c) + run.begin;
      for (int64_t i = 0; i < run.size(); ++i) row[i] += walk[i];
    }
  }
}

void noise(StageCall& s) {
  for (size_t b = 0; b < s.stage.runs.size(); ++b) {
    const TaxelRange& run = s.stage.runs[b];
    for (int64_t c = 0; c < s.w.channels; ++c) {
      add_normal(s.normals, s.now.key, run.begin, c, s.single(b, 0), s.w.row(c) + run.begin, run.size());
    }
  }
}

void limit_parts(Workspace& w, const TaxelRange& run, float normal, float shear) {
  const float *ax = w.axes.data(), *ay = ax + w.taxels, *az = ay + w.taxels;
  for (int64_t t = run.begin; t < run.end; ++t) {
    const bool split = w.channels == 3 && (ax[t] != 0.0f || ay[t] != 0.0f || az[t] != 0.0f);
    const float axis[3] = {ax[t], ay[t], az[t]};
    float along = 0.0f, square = 0.0f;
    for (int64_t c = 0; c < w.channels; ++c) {
      const float value = w.row(c)[t];
      square += value * value;
      if (split) along += value * axis[c];
    }
    if (!split) {
      const float most = w.channels == 3 ? std::max(normal, shear) : normal;
      if (square > most * most) {
        w.valid[t] = 0;
        for (int64_t c = 0; c < w.channels; ++c) w.row(c)[t] *= most / std::sqrt(square);
      }
      continue;
    }
    const float across = std::sqrt(std::max(square - along * along, 0.0f));
    const float inward = std::min(std::max(along, -normal), normal);
    const float ratio = across > shear ? shear / across : 1.0f;
    if (ratio < 1.0f || inward != along) {
      w.valid[t] = 0;
      for (int64_t c = 0; c < 3; ++c) {
        float& value = w.row(c)[t];
        value = ratio * (value - along * axis[c]) + inward * axis[c];
      }
    }
  }
}

void limit(Workspace& w, const TaxelRange& run, float most) {
  for (int64_t t = run.begin; t < run.end; ++t) {
    float square = 0.0f;
    for (int64_t c = 0; c < w.channels; ++c) square += w.row(c)[t] * w.row(c)[t];
    if (square > most * most) {
      w.valid[t] = 0;
      const float ratio = most / std::sqrt(square);
      for (int64_t c = 0; c < w.channels; ++c) w.row(c)[t] *= ratio;
    }
  }
}

// In the world frame the normal is unknown, so the larger limit of both parts applies to the magnitude.
void saturation(StageCall& s) {
  for (size_t b = 0; b < s.stage.runs.size(); ++b) {
    const TaxelRange& run = s.stage.runs[b];
    const float level = s.single(b, 0), normal = s.single(b, 1), shear = s.single(b, 2);
    float* magnitudes = s.w.work.data();
    squares(s.w, run.begin, run.size(), magnitudes);
    const float least = std::min(std::min(level, normal), shear);
    int32_t beyond = 0;
    for (int64_t i = 0; i < run.size(); ++i) beyond |= magnitudes[i] > least * least;
    if (beyond) {
      limit_parts(s.w, run, normal, shear);
      limit(s.w, run, level);
    }
  }
}

// --- Converter ---------------------------------------------------------------------------------------------

// Slots for values (channels, taxels), behind the number of the next slot.
size_t slots_bytes(const Stage& stage, int64_t channels, int64_t taxels) {
  return sizeof(int64_t) + stage.room * values_bytes(stage, channels, taxels);
}

// Low-pass filter of run b with this time constant [s]; it starts at the first reading. Memory: the lags (channels,
// taxels) of the output behind the input, and the last input.
void low_pass(StageCall& s, size_t b, double time_constant) {
  Workspace& w = s.w;
  const TaxelRange& run = s.stage.runs[b];
  const int64_t n = run.size(), size = s.stage.taxels();
  float* memory = slot_memory(s.memory).values;
  const auto inputs = [&](int64_t c) { return memory + (w.channels + c) * size + run.first; };
  const Lag lag(s.now.interval, time_constant);
  float* __restrict shares = w.work.data();
  if (s.now.first) {
    std::fill_n(shares, n, 0.0f);
  } else {
    changes(w, run.begin, n, lag, inputs, shares);
  }
  for (int64_t c = 0; c < w.channels; ++c) {
    float *__restrict row = w.row(c) + run.begin, *__restrict lags = memory + c * size + run.first;
    float *__restrict input = inputs(c), *__restrict next = shares + 2 * w.taxels;
    for (int64_t i = 0; i < n; ++i) next[i] = lag.after(lags[i], row[i] - input[i], shares[i]);
    if (s.now.keep) copy(row, input, n), copy(next, lags, n);
    for (int64_t i = 0; i < n; ++i) row[i] -= next[i];
  }
}

// Weighted sum of the last readings of run b; slot `newest` stores the current one.
void weighted_sum(StageCall& s, size_t b, int64_t newest) {
  Workspace& w = s.w;
  const TaxelRange& run = s.stage.runs[b];
  const int64_t n = run.size(), size = s.stage.taxels(), count = s.stage.room;
  float* memory = slot_memory(s.memory).values;
  const auto slot = [&](int64_t k, int64_t c) { return memory + (k * w.channels + c) * size + run.first; };
  const float* weights = s.constants + b * count;
  for (int64_t c = 0; c < w.channels; ++c) {
    float *__restrict row = w.row(c) + run.begin, *__restrict total = w.work.data();
    for (int64_t i = 0; i < n; ++i) total[i] = weights[0] * row[i];
    for (int64_t k = 1; k < count; ++k) {
      const float* __restrict older = slot((newest - k + count) % count, c);
      for (int64_t i = 0; i < n; ++i) total[i] += weights[k] * older[i];
    }
    if (s.now.keep) copy(row, slot(newest, c), n);
    copy(total, row, n);
  }
}

// constants: weights (runs, room); unused ones are 0.
void smoothing(StageCall& s) {
  int64_t& next = *slot_memory(s.memory).next;
  const int64_t newest = s.now.again ? next : (next + 1) % s.stage.room;
  if (s.now.keep) next = newest;
  for (size_t b = 0; b < s.stage.runs.size(); ++b) {
    const double time_constant = s.parameter(b, 0);
    time_constant > 0.0 ? low_pass(s, b, time_constant) : weighted_sum(s, b, newest);
  }
}

void threshold(StageCall& s) {
  Workspace& w = s.w;
  for (size_t b = 0; b < s.stage.runs.size(); ++b) {
    const TaxelRange& run = s.stage.runs[b];
    const int64_t n = run.size();
    float *__restrict levels = w.work.data(), *__restrict deviations = levels + w.taxels;
    float* __restrict magnitudes = deviations + w.taxels;
    fill_values(s, b, levels);
    fill_deviations(s, b, 0, deviations);
    for (int64_t i = 0; i < n; ++i) {
      const float level = levels[i] * (1.0f + deviations[i]);
      levels[i] = level * std::abs(level);
    }
    squares(w, run.begin, n, magnitudes);
    for (int64_t c = 0; c < w.channels; ++c) {
      float* __restrict row = w.row(c) + run.begin;
      for (int64_t i = 0; i < n; ++i) row[i] = magnitudes[i] < levels[i] ? 0.0f : row[i];
    }
  }
}

// Number of equal cells into which a curve's input range is divided to find segments quickly.
constexpr int32_t kCells = 8192;

struct CurvePoint {
  float x, y, slope;
};

// integers: for each run, the index at which the table of its curve begins. A table has the indices of the curve's
// first and last points, the largest number of points in a cell, and for each cell the point that ends the segment
// at its start, counted from the first point.
// constants: of each point, its input and output, and the slope of the segment before it.
template <bool kInverse>
void curve(StageCall& s) {
  Workspace& w = s.w;
  for (size_t b = 0; b < s.stage.runs.size(); ++b) {
    const TaxelRange& run = s.stage.runs[b];
    const int64_t n = run.size();
    const int32_t* index = s.stage.integers.data() + s.stage.integers[b];
    const int32_t first = index[0], last = index[1] - first, most = index[2], *ends = index + 3;
    const auto* points = reinterpret_cast<const CurvePoint*>(s.constants) + first;
    const float limit = points[last].x, scale = static_cast<float>(kCells) / limit, baseline = s.single(b, 1);
    const float before = kInverse ? baseline : 0.0f, after = kInverse ? 0.0f : baseline;
    float* __restrict sizes = w.work.data();
    int32_t* __restrict cells = w.indices.data();
    for (int64_t c = 0; c < w.channels; ++c) {
      float* __restrict row = w.row(c) + run.begin;
      int32_t beyond = 0;
      for (int64_t i = 0; i < n; ++i) {  // without the search, so that it is vectorized
        const float magnitude = std::abs(row[i] - before), size = magnitude < limit ? magnitude : limit;
        const float cell = size * scale;
        beyond |= magnitude > limit;
        sizes[i] = size;
        cells[i] = static_cast<int32_t>(cell < kCells - 1.0f ? cell : kCells - 1.0f);
      }
      if (beyond && !kInverse) {
        for (int64_t i = 0; i < n; ++i) {
          if (std::abs(row[i] - before) > limit) w.valid[run.begin + i] = 0;
        }
      }
      const auto value = [](const CurvePoint& point, float size) { return point.y + point.slope * (size - point.x); };
      if (most <= 1) {
        for (int64_t i = 0; i < n; ++i) {
          int64_t k = ends[cells[i]];
          k += sizes[i] > points[k].x;
          sizes[i] = value(points[k], sizes[i]);
        }
      } else {
        const auto is_below = [](const CurvePoint& point, float x) { return point.x < x; };
        for (int64_t i = 0; i < n; ++i) {
          const CurvePoint* point = std::lower_bound(points, points + last + 1, sizes[i], is_below);
          sizes[i] = value(*std::clamp(point, points + 1, points + last), sizes[i]);
        }
      }
      for (int64_t i = 0; i < n; ++i) row[i] = after + std::copysign(sizes[i], row[i] - before);
    }
  }
}

// Adding 0.0 makes a negative zero positive, because codes have only one zero.
void quantisation(StageCall& s) {
  Workspace& w = s.w;
  for (size_t b = 0; b < s.stage.runs.size(); ++b) {
    const TaxelRange& run = s.stage.runs[b];
    const double width = s.parameter(b, 0), bits = s.parameter(b, 1), sign = s.parameter(b, 2);
    const double size = std::exp2(bits - sign), infinity = HUGE_VAL;
    const double least = bits == 0.0 ? -infinity : -size * sign, most = bits == 0.0 ? infinity : size - 1.0;
    const float step = static_cast<float>(width), low = static_cast<float>(least), high = static_cast<float>(most);
    for (int64_t c = 0; c < w.channels; ++c) {
      float* __restrict row = w.row(c) + run.begin;
      int32_t beyond = 0;
      for (int64_t i = 0; i < run.size(); ++i) {
        const float count = std::rint(row[i] / step);
        beyond |= !(low <= count && count <= high);
        row[i] = static_cast<float>(static_cast<double>(count) * width + 0.0);
      }
      if (!beyond) continue;
      for (int64_t i = 0; i < run.size(); ++i) {
        const float count = std::rint(row[i] / step);
        if (!(low <= count && count <= high)) {
          w.valid[run.begin + i] = 0;
          row[i] = static_cast<float>(std::min(std::max<double>(count, least), most) * width + 0.0);
        }
      }
    }
  }
}

// --- Wires and bus -----------------------------------------------------------------------------------------

// constants: for each dead taxel, its index in the skin (-1: none) and its reading.
void dead_taxels(StageCall& s) {
  for (size_t k = 0; k + 1 < s.constant_count; k += 2) {
    const int64_t taxel = static_cast<int64_t>(s.constants[k]);
    if (taxel < 0 || taxel >= s.w.taxels) continue;
    s.w.valid[taxel] = 0;
    for (int64_t c = 0; c < s.w.channels; ++c) s.w.row(c)[taxel] = s.constants[k + 1];
  }
}

// Draw 32 random bits for each of n counters from `first` on.
void fill_bits(uint64_t key, int64_t first, uint32_t* __restrict out, int64_t n) {
  const uint32_t one = static_cast<uint32_t>(key), other = static_cast<uint32_t>(key >> 32);
  for (int64_t i = 0; i < n; ++i) out[i] = hash32(hash32(static_cast<uint32_t>(first + i) ^ one) + other);
}

// Number of taxels among which lost readings are searched at once.
constexpr int64_t kSearched = 64;

// Replace the readings of a random share of a run's taxels by those in memory, or by 0 if it is null.
void replace(const StageCall& s, const TaxelRange& run, const uint32_t* bits, double share,
             const unsigned char* memory) {
  const uint32_t most = static_cast<uint32_t>(std::max(share * 0x1p32 - 1.0, 0.0));
  for (int64_t start = 0; start < run.size(); start += kSearched) {
    const int64_t end = std::min(start + kSearched, run.size());
    int32_t chosen = 0;
    for (int64_t i = start; i < end; ++i) chosen |= bits[i] <= most;
    if (!chosen) continue;
    for (int64_t i = start; i < end; ++i) {
      if (bits[i] > most) continue;
      for (int64_t c = 0; c < s.w.channels; ++c) {
        float& reading = s.w.row(c)[run.begin + i];
        reading = 0.0f;
        if (memory) load(memory, c * s.stage.taxels() + run.first + i, s.stage.codes, &reading, 1);
      }
    }
  }
}

// Memory: the last reading (channels, taxels), before readings are set to zero.
void dropout(StageCall& s) {
  Workspace& w = s.w;
  uint32_t* bits = reinterpret_cast<uint32_t*>(w.indices.data());
  for (size_t b = 0; b < s.stage.runs.size(); ++b) {
    const TaxelRange& run = s.stage.runs[b];
    const double hold = s.now.first ? 0.0 : s.parameter(b, 0), zero = s.parameter(b, 1);
    fill_bits(s.now.key, run.begin, bits, run.size());
    if (hold > 0.0) replace(s, run, bits, hold, s.memory);
    for (int64_t c = 0; s.now.keep && c < w.channels; ++c) {
      save(w.row(c) + run.begin, run.size(), s.memory, c * s.stage.taxels() + run.first, s.stage.codes);
    }
    if (zero > 0.0) {
      for (int64_t i = 0; i < run.size(); ++i) bits[i] = hash32(bits[i]);
      replace(s, run, bits, zero, nullptr);
    }
  }
}

size_t delay_bytes(const Stage& stage, int64_t channels, int64_t) {
  return delay_memory(stage, channels, nullptr).bytes;
}

// Readings are stored when tactile messages are due, so a delay is effectively rounded up to a multiple of the
// message interval. Readings are not interpolated, because a sensor does not measure in between.
void delay(StageCall& s) {
  Workspace& w = s.w;
  const DelayMemory m = delay_memory(s.stage, w.channels, s.memory);
  const int64_t runs = s.stage.runs.size(), taxels = s.stage.taxels(), room = s.stage.room;
  const int64_t stored = s.now.again ? *m.count - 1 : *m.count;  // a reading of the same step is replaced
  const auto slot = [&](int64_t age) { return (*m.oldest + age) % room; };
  const int64_t fresh = slot(stored);
  int64_t least = stored;
  for (int64_t b = 0; b < runs; ++b) {
    const TaxelRange& run = s.stage.runs[b];
    double late = s.parameter(b, 0);
    if (s.parameter(b, 1) > 0.0) late += s.parameter(b, 1) * upper(entry(s.now.key, run.begin));
    const int64_t arrival = s.now.step + static_cast<int64_t>(std::ceil(late / s.now.timestep - kSlack));
    int64_t newest = stored;
    if (arrival > s.now.step) {
      --newest;
      while (newest >= 0 && m.arrivals[slot(newest) * runs + b] > s.now.step) --newest;
    }
    least = std::min(least, newest);
    uint8_t* valid = w.valid.data() + run.begin;
    if (s.now.keep) {
      m.arrivals[fresh * runs + b] = arrival;
      std::copy_n(valid, run.size(), m.valid + fresh * taxels + run.first);
      for (int64_t c = 0; c < w.channels; ++c) {
        save(w.row(c) + run.begin, run.size(), m.values + fresh * m.slot_bytes, c * taxels + run.first, s.stage.codes);
      }
    }
    if (newest == stored) continue;
    if (newest < 0) {
      std::fill_n(valid, run.size(), 0);
      for (int64_t c = 0; c < w.channels; ++c) std::fill_n(w.row(c) + run.begin, run.size(), 0.0f);
      continue;
    }
    const int64_t read = slot(newest);
    std::copy_n(m.valid + read * taxels + run.first, run.size(), valid);
    for (int64_t c = 0; c < w.channels; ++c) {
      load(m.values + read * m.slot_bytes, c * taxels + run.first, s.stage.codes, w.row(c) + run.begin, run.size());
    }
  }
  if (s.now.keep) {
    // Readings before the newest one that has arrived on every pad are never reported.
    const int64_t drop = std::max<int64_t>(least, 0);
    *m.oldest = slot(drop);
    *m.count = stored + 1 - drop;
  }
}

// --- Driver ------------------------------------------------------------------------------------------------

size_t tare_bytes(const Stage& stage, int64_t channels, int64_t skin_taxels) {
  return reinterpret_cast<size_t>(tare_memory(stage, nullptr).zero) +
         stage.room * channels * skin_taxels * sizeof(float);
}

void tare(StageCall& s) {
  Workspace& w = s.w;
  const TareMemory m = tare_memory(s.stage, s.memory);
  if (m.flags[0]) {
    for (int64_t c = 0; c < w.channels; ++c) {
      float* __restrict row = w.row(c);
      const float* __restrict subtracted = m.zero + c * w.taxels;
      for (int64_t i = 0; i < w.taxels; ++i) row[i] -= subtracted[i];
    }
  }
  for (size_t b = 0; b < s.stage.runs.size(); ++b) {
    uint8_t& done = m.flags[1 + b];
    if (done || s.now.step < std::ceil(s.parameter(b, 0) / s.now.timestep - kSlack)) continue;
    const TaxelRange& run = s.stage.runs[b];
    if (s.now.keep) m.flags[0] = done = 1;
    for (int64_t c = 0; c < w.channels; ++c) {
      float* __restrict row = w.row(c) + run.begin;
      float* __restrict subtracted = m.zero + c * w.taxels + run.begin;
      for (int64_t i = 0; i < run.size(); ++i) {
        if (s.now.keep) subtracted[i] += row[i];
        row[i] = 0.0f;
      }
    }
  }
}

void clip(StageCall& s) {
  for (size_t b = 0; b < s.stage.runs.size(); ++b) {
    const TaxelRange& run = s.stage.runs[b];
    const float low = s.single(b, 0), high = s.single(b, 1);
    for (int64_t c = 0; c < s.w.channels; ++c) {
      float* __restrict row = s.w.row(c) + run.begin;
      for (int64_t i = 0; i < run.size(); ++i) row[i] = std::min(std::max(row[i], low), high);
    }
  }
}

size_t contact_bytes(const Stage& stage, int64_t, int64_t) { return stage.taxels(); }

// A vector keeps its direction and is scaled to length 1 or 0. Memory: 1 for each taxel in contact.
void contact(StageCall& s) {
  Workspace& w = s.w;
  for (size_t b = 0; b < s.stage.runs.size(); ++b) {
    const TaxelRange& run = s.stage.runs[b];
    const int64_t n = run.size();
    const float above = s.single(b, 0), below = s.single(b, 1);
    uint8_t* __restrict before = s.memory + run.first;
    float* __restrict magnitudes = w.work.data();
    squares(w, run.begin, n, magnitudes);
    for (int64_t i = 0; i < n; ++i) {
      const float magnitude = std::sqrt(magnitudes[i]), level = before[i] ? below : above;
      const bool on = (magnitude >= level) & (magnitude > 0.0f);
      magnitudes[i] = on ? 1.0f / magnitude : 0.0f;
    }
    for (int64_t c = 0; c < w.channels; ++c) {
      float* __restrict row = w.row(c) + run.begin;
      if (w.channels == 1) {
        for (int64_t i = 0; i < n; ++i) row[i] = magnitudes[i] > 0.0f ? 1.0f : 0.0f;
      } else {
        for (int64_t i = 0; i < n; ++i) row[i] *= magnitudes[i];
      }
    }
    for (int64_t i = 0; s.now.keep && i < n; ++i) before[i] = magnitudes[i] > 0.0f;
  }
}

void history(StageCall& s) {
  if (!s.now.keep) return;
  const SlotMemory slots = slot_memory(s.memory);
  if (!s.now.again) *slots.next = (*slots.next + 1) % s.stage.room;
  const int64_t newest = (*slots.next - 1 + s.stage.room) % s.stage.room;
  for (const TaxelRange& run : s.stage.runs) {
    for (int64_t c = 0; c < s.w.channels; ++c) {
      copy(s.w.row(c) + run.begin, slots.values + (newest * s.w.channels + c) * s.stage.taxels() + run.first,
           run.size());
    }
  }
}

// --- Checks of numbers --------------------------------------------------------------------------------------

template <class T>
bool within(const T* first, const T* last, T low, T high) {
  return std::all_of(first, last, [&](T number) { return low <= number && number <= high; });
}

bool fits_cross_talk(const Stage& stage, int64_t, int64_t taxels) {
  const int64_t own = stage.taxels(), receivers = static_cast<int64_t>(stage.integers.size()) - own - 1;
  const int32_t *begins = stage.integers.data(), *ends = begins + own;
  return receivers >= 0 && begins[0] == 0 && std::is_sorted(begins, ends + 1) && *ends == receivers &&
         within<int32_t>(ends + 1, ends + 1 + receivers, 0, static_cast<int32_t>(taxels) - 1) &&
         static_cast<int64_t>(stage.constants.size()) >= own + receivers;
}

bool fits_filter(const Stage& stage, int64_t, int64_t) { return stage.constants.size() >= 3 * stage.runs.size(); }

// See `fill_values` and `fill_deviations`.
bool fits_columns(const Stage& stage, size_t columns) {
  const auto own = static_cast<size_t>(stage.taxels());
  return (stage.constants.empty() || stage.constants.size() >= own) &&
         (stage.deviations.empty() || (stage.columns >= 2 && stage.deviations.size() >= columns * own));
}
bool fits_deviations(const Stage& stage, int64_t, int64_t) { return fits_columns(stage, 1); }
// Without constants, or with values of all taxels, or with those and two coefficients of a curve.
bool fits_gain(const Stage& stage, int64_t, int64_t) {
  const auto own = static_cast<size_t>(stage.taxels());
  return fits_columns(stage, 1) && (stage.constants.size() <= own || stage.constants.size() >= 3 * own);
}
bool fits_offset(const Stage& stage, int64_t channels, int64_t) { return fits_columns(stage, channels); }

bool has_room(const Stage& stage, int64_t, int64_t) { return stage.room > 0; }

bool fits_smoothing(const Stage& stage, int64_t, int64_t) {
  for (size_t b = 0; b < stage.runs.size(); ++b) {
    if (stage.parameters[b * stage.columns] > 0.0 && stage.room < 2) return false;
  }
  return stage.room > 0 && stage.constants.size() >= stage.runs.size() * stage.room;
}

bool fits_curve(const Stage& stage, int64_t, int64_t) {
  const auto size = static_cast<int64_t>(stage.integers.size());
  const auto points = static_cast<int32_t>(stage.constants.size() / 3);
  if (size < static_cast<int64_t>(stage.runs.size())) return false;
  for (size_t b = 0; b < stage.runs.size(); ++b) {
    const int64_t begin = stage.integers[b];
    if (begin < 0 || begin > size - 3 - kCells) return false;
    const int32_t* index = stage.integers.data() + begin;
    if (!(0 <= index[0] && index[0] < index[1] && index[1] < points)) return false;
    if (!within(index + 3, index + 3 + kCells, 0, index[1] - index[0])) return false;
  }
  return true;
}

const StageLaw kLaws[] = {
    {"cross_talk", no_bytes, cross_talk, 0, fits_cross_talk},
    {"hysteresis", values_bytes, hysteresis, 1, nullptr},
    {"viscoelasticity", filter_bytes, filter, 0, fits_filter},
    {"slow_adaptation", filter_bytes, filter, 0, fits_filter},
    {"fast_adaptation", filter_bytes, filter, 0, fits_filter},
    {"gain", no_bytes, gain, 3, fits_gain},
    {"offset", no_bytes, offset, 1, fits_offset},
    {"drift", values_bytes, drift, 2, nullptr},
    {"noise", no_bytes, noise, 1, nullptr},
    {"saturation", no_bytes, saturation, 3, nullptr},
    {"smoothing", slots_bytes, smoothing, 1, fits_smoothing},
    {"threshold", no_bytes, threshold, 1, fits_deviations},
    {"transfer", no_bytes, curve<false>, 2, fits_curve},
    {"quantisation", no_bytes, quantisation, 3, nullptr},
    {"dead_taxels", no_bytes, dead_taxels, 0, nullptr},
    {"dropout", stored_bytes, dropout, 2, nullptr},
    {"delay", delay_bytes, delay, 2, has_room},
    {"calibration", no_bytes, curve<true>, 2, fits_curve},
    {"tare", tare_bytes, tare, 1, nullptr},
    {"clip", no_bytes, clip, 2, nullptr},
    {"contact", contact_bytes, contact, 2, nullptr},
    {"history", slots_bytes, history, 0, has_room},
};

// Divide memory into aligned arrays.
class Layout {
 public:
  explicit Layout(unsigned char* memory) : memory_(memory) {}
  template <class T>
  T* take(int64_t count, size_t alignment = alignof(T)) {
    bytes_ = (bytes_ + alignment - 1) / alignment * alignment;
    T* array = reinterpret_cast<T*>(reinterpret_cast<uintptr_t>(memory_) + bytes_);
    bytes_ += count * sizeof(T);
    return array;
  }
  size_t bytes() const { return bytes_; }

 private:
  unsigned char* memory_;
  size_t bytes_ = 0;
};

}  // namespace

TareMemory tare_memory(const Stage& stage, unsigned char* memory) {
  Layout layout(memory);
  uint8_t* flags = layout.take<uint8_t>(1 + stage.runs.size());
  return {flags, layout.take<float>(0)};
}

DelayMemory delay_memory(const Stage& stage, int64_t channels, unsigned char* memory) {
  Layout layout(memory);
  DelayMemory m;
  m.oldest = layout.take<int64_t>(1), m.count = layout.take<int64_t>(1);
  m.arrivals = layout.take<int64_t>(stage.room * stage.runs.size());
  m.valid = layout.take<uint8_t>(stage.room * stage.taxels());
  m.slot_bytes = (stored_bytes(stage, channels) + 3) / 4 * 4;
  m.values = layout.take<unsigned char>(stage.room * m.slot_bytes, alignof(float));
  m.bytes = layout.bytes();
  return m;
}

SlotMemory slot_memory(unsigned char* memory) {
  Layout layout(memory);
  int64_t* next = layout.take<int64_t>(1);
  return {next, layout.take<float>(0)};
}

const StageLaw* find_law(const std::string& key) {
  for (const StageLaw& law : kLaws) {
    if (key == law.key) return &law;
  }
  return nullptr;
}

void respond(const double* loads, const double* intervals, int64_t samples, int64_t taxels, const Response& law,
             double* out) {
  const auto share = [](double interval, double constant) { return -std::expm1(-interval / constant); };
  struct Filter {
    double load = 0.0, lag = 0.0;
    double read(double x, double own, double late, double lost, double ramp) {
      lag += (load != 0.0 && x != 0.0 ? ramp : 1.0) * (x - load) - lost * lag;
      load = x;
      return own * x - late * lag;
    }
  };
  std::vector<double> held(taxels);
  std::vector<Filter> creep(taxels), decay(taxels);
  for (int64_t k = 0; k < samples; ++k) {
    const double interval = intervals[k], tc = law.creep_time, td = law.decay_time;
    const double lost[2] = {share(interval, tc), share(interval, td)};
    const double ramp[2] = {interval > 0.0 ? lost[0] * (tc / interval) : 1.0,
                            interval > 0.0 ? lost[1] * (td / interval) : 1.0};
    for (int64_t t = 0; t < taxels; ++t) {
      const double load = loads[k * taxels + t], width = law.friction * std::abs(load);
      held[t] = std::min(std::max(held[t], load - width), load + width);
      const double crept = creep[t].read(held[t], 1.0, law.creep, lost[0], ramp[0]);
      out[k * taxels + t] = decay[t].read(crept, law.remains, law.remains - 1.0, lost[1], ramp[1]);
    }
  }
}

void add_normal(const float* table, uint64_t key, int64_t first, int64_t place, float deviation,
                float* __restrict out, int64_t n) {
  const float half = 0.5f * deviation;
  for (int64_t begin = 0; begin < n;) {
    const int64_t counter = first + begin, inside = counter % kNormalBlock;
    const int64_t end = std::min(n, begin + kNormalBlock - inside);
    const uint64_t bits = entry(key, (static_cast<uint64_t>(counter / kNormalBlock) << 4) + place);
    const auto part = [&](int shift) { return table + ((bits >> shift) & (kNormalPeriod - 1)) + inside; };
    const float *__restrict a = part(0), *__restrict b = part(16), *__restrict c = part(32), *__restrict d = part(48);
    float* __restrict own = out + begin;
    for (int64_t i = 0; i < end - begin; ++i) own[i] += half * ((a[i] + b[i]) + (c[i] + d[i]));
    begin = end;
  }
}

void draw_normal(const float* table, uint64_t key, int64_t place, int16_t* out, int64_t n) {
  std::vector<float> drawn(n, 0.0f);
  add_normal(table, key, 0, place, 1.0f, drawn.data(), n);
  for (int64_t i = 0; i < n; ++i) out[i] = static_cast<int16_t>(std::rint(drawn[i] * 4096.0f));
}

}  // namespace tactile
