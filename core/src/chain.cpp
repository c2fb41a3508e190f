#include "tactile/chain.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

#include "stages.h"
#include "tactile/draws.h"

namespace tactile {

Workspace::Workspace(std::vector<float> axes_, int64_t channels_)
    : channels(channels_),
      taxels(static_cast<int64_t>(axes_.size()) / 3),
      axes(std::move(axes_)),
      values(channels * taxels),
      valid(taxels, 1),
      awake((taxels + kRest - 1) / kRest),
      last(channels * taxels),
      work((3 + channels) * taxels),
      indices(2 * taxels),
      stored(channels * taxels),
      stored_valid(taxels) {}

void StageMemory::resize(size_t environments, size_t bytes) {
  stride_ = (bytes + sizeof(Line) - 1) / sizeof(Line);
  lines_.assign(environments * stride_, Line{});
}

void StageMemory::clear(size_t environment) {
  std::fill_n(at(environment), bytes(), static_cast<unsigned char>(0));
}

Program::Program(double timestep, int64_t channels, std::vector<uint64_t> seeds, const std::vector<uint8_t>& staged,
                 std::vector<float> normals)
    : timestep_(timestep),
      channels_(channels),
      taxels_(static_cast<int64_t>(staged.size())),
      seeds_(std::move(seeds)),
      kept_(seeds_.size(), -1),
      normals_(std::move(normals)) {
  for (int64_t t = 0; t < taxels_; ++t) {
    if (staged[t]) continue;
    if (unstaged_.empty() || unstaged_.back().end < t) unstaged_.push_back({t, t, 0});
    unstaged_.back().end = t + 1;
  }
  if (normals_.size() != kNormalPeriod + kNormalBlock) throw std::invalid_argument("normals: wrong size");
}

void Program::add(Stage stage) {
  stage.law = find_law(stage.key);
  check(stage);
  const auto repeat = [&](auto& numbers) {
    const size_t size = numbers.size();
    if (!stage.varies) return;
    numbers.reserve(size * environments());
    for (size_t env = 1; env < environments(); ++env) {
      for (size_t i = 0; i < size; ++i) numbers.push_back(numbers[i]);
    }
  };
  repeat(stage.parameters), repeat(stage.constants), repeat(stage.deviations);
  stage.memory.resize(environments(), stage.law ? stage.law->bytes(stage, channels_, taxels()) : 0);
  if (stage.rests) awake_.resize(environments(), (taxels() + kRest - 1) / kRest);
  if (stage.key == "tare") tare_ = stages_.size();
  stages_.push_back(std::move(stage));
}

void Program::check(const Stage& stage) const {
  if (!stage.law || ((stage.runs.empty() || stage.columns >= stage.law->columns) &&
                     (!stage.law->fits || stage.law->fits(stage, channels_, taxels_)))) {
    return;
  }
  throw std::invalid_argument("stage " + stage.key + ": the numbers do not fit the runs");
}

void Program::set_numbers(size_t s, size_t environment, const double* parameters, const float* constants,
                          const int16_t* deviations) {
  Stage& stage = stages_.at(s);
  const auto set = [&](auto& all, const auto* own) {
    const size_t size = all.size() / environments();
    std::copy_n(own, size, all.begin() + environment * size);
  };
  set(stage.parameters, parameters), set(stage.constants, constants), set(stage.deviations, deviations);
}

void Program::restart(size_t environment, uint64_t seed) {
  seeds_.at(environment) = seed;
  kept_[environment] = -1;
  awake_.clear(environment);
  for (Stage& stage : stages_) {
    if (stage.key != "tare") stage.memory.clear(environment);
  }
}

Stage& Program::find(const char* key) {
  for (Stage& stage : stages_) {
    if (stage.key == key) return stage;
  }
  throw std::invalid_argument(std::string("the chain has no stage ") + key);
}

void Program::make_room(const int64_t* steps) {
  for (Stage& stage : stages_) {
    if (stage.key != "delay") continue;
    const int64_t runs = stage.runs.size(), room = stage.room;
    const auto is_full = [&](size_t env) {
      const DelayMemory m = delay_memory(stage, channels_, stage.memory.at(env));
      if (*m.count < room || kept_[env] == steps[env]) return false;  // or the new reading replaces the last
      // If the second oldest reading has arrived on every pad, the oldest is no longer needed.
      const int64_t* second = m.arrivals + (*m.oldest + 1) % room * runs;
      return std::any_of(second, second + runs, [&](int64_t arrival) { return arrival > steps[env]; });
    };
    bool full = false;
    for (size_t env = 0; env < environments() && !full; ++env) full = is_full(env);
    if (!full) continue;
    Stage old = stage;
    stage.room = std::max(room + 1, room + room / 2);
    stage.memory.resize(environments(), stage.law->bytes(stage, channels_, taxels()));
    for (size_t env = 0; env < environments(); ++env) {
      const DelayMemory from = delay_memory(old, channels_, old.memory.at(env));
      const DelayMemory to = delay_memory(stage, channels_, stage.memory.at(env));
      *to.count = *from.count;
      for (int64_t k = 0; k < *from.count; ++k) {
        const int64_t slot = (*from.oldest + k) % room, number = stage.taxels();
        std::copy_n(from.arrivals + slot * runs, runs, to.arrivals + k * runs);
        std::copy_n(from.valid + slot * number, number, to.valid + k * number);
        std::copy_n(from.values + slot * from.slot_bytes, from.slot_bytes, to.values + k * to.slot_bytes);
      }
    }
  }
}

namespace {

// Convert ideal readings (taxels, channels) to float32, and find the blocks in which a reading is not 0.
template <class In>
void load(const In* reading, Workspace& w) {
  std::fill(w.values.begin(), w.values.end(), 0.0f);
  for (size_t k = 0; k < w.awake.size(); ++k) {
    const int64_t begin = k * kRest, n = std::min(w.taxels, begin + kRest) - begin;
    const In* part = reading + begin * w.channels;
    int loads = 0;
    for (int64_t i = 0; i < n * w.channels; ++i) loads |= part[i] != 0;
    w.awake[k] = loads ? kLoaded : 0;
    for (int64_t c = 0; loads && c < w.channels; ++c) {
      float* __restrict row = w.row(c) + begin;
      for (int64_t i = 0; i < n; ++i) row[i] = 0.0f + static_cast<float>(part[i * w.channels + c]);  // -0 becomes 0
    }
  }
}

template <class Out>
void write(Workspace& w, Out* __restrict output) {
  if (w.channels == 3) {  // a constant distance in memory, so that the loop is vectorized
    const float *__restrict x = w.row(0), *__restrict y = w.row(1), *__restrict z = w.row(2);
    for (int64_t t = 0; t < w.taxels; ++t) output[3 * t] = x[t], output[3 * t + 1] = y[t], output[3 * t + 2] = z[t];
    return;
  }
  for (int64_t c = 0; c < w.channels; ++c) {
    const float* row = w.row(c);
    for (int64_t t = 0; t < w.taxels; ++t) output[t * w.channels + c] = row[t];
  }
}

// Copy the readings and validity of a pad that a stage must not change, from or to the workspace.
void exchange(Workspace& w, const TaxelRange& pad, bool restore) {
  const auto copy = [&](auto* array, auto* stored) {
    restore ? std::copy_n(stored + pad.begin, pad.size(), array + pad.begin)
            : std::copy_n(array + pad.begin, pad.size(), stored + pad.begin);
  };
  copy(w.valid.data(), w.stored_valid.data());
  for (int64_t c = 0; c < w.channels; ++c) copy(w.row(c), w.stored.data() + c * w.taxels);
}

}  // namespace

void Program::apply(Workspace& w, size_t environment, int64_t step, bool keep, size_t count, const OwnStages& own) {
  const int64_t kept = kept_[environment];
  const bool rests = awake_.bytes() > 0;
  unsigned char* was_awake = awake_.at(environment);
  for (size_t k = 0; rests && k < w.awake.size(); ++k) w.awake[k] = std::max(w.awake[k], was_awake[k]);
  std::fill(w.valid.begin(), w.valid.end(), uint8_t{1});
  Now now{step, kept < 0 ? 0.0 : (step - kept) * timestep_, timestep_, kept < 0, step == kept, keep, 0};
  for (size_t s = 0; s < count; ++s) {
    Stage& stage = stages_[s];
    now.key = stream(stream(seeds_[environment], stage.hash), static_cast<uint64_t>(step));
    for (size_t b = 0; b < stage.pads.size(); ++b) {
      if (stage.bypassed[b]) exchange(w, stage.pads[b], false);
    }
    if (stage.law) {
      const size_t row = stage.varies ? environment : 0, rows = stage.varies ? environments() : 1;
      const size_t constants = stage.constants.size() / rows;
      StageCall call{stage,
                     stage.parameters.data() + row * (stage.parameters.size() / rows),
                     stage.constants.data() + row * constants,
                     constants,
                     stage.deviations.data() + row * (stage.deviations.size() / rows),
                     stage.memory.at(environment),
                     now,
                     normals_.data(),
                     w};
      stage.law->compute(call);
    } else {
      own(s, static_cast<int64_t>(environment), now);
    }
    for (size_t b = 0; b < stage.pads.size(); ++b) {
      if (stage.bypassed[b]) exchange(w, stage.pads[b], true);
    }
  }
  if (!keep) return;
  kept_[environment] = step;
  for (size_t k = 0; rests && k < w.awake.size(); ++k) was_awake[k] = std::min(w.awake[k], kAwake);
}

template <class In, class Out>
void Program::run(Workspace& w, const int64_t* environments, size_t number, const int64_t* steps, const In* truth,
                  Out* output, bool keep, size_t count, const OwnStages& own) {
  const size_t size = channels_ * taxels();
  for (size_t k = 0; k < number; ++k) {
    const size_t env = environments[k];
    const In* reading = truth + env * size;
    load(reading, w);
    apply(w, env, steps[env], keep, count, own);
    if (!output) continue;
    Out* written = output + env * size;
    write(w, written);
    if (tared(env)) continue;
    for (const TaxelRange& range : unstaged_) {
      std::copy_n(reading + range.begin * channels_, range.size() * channels_, written + range.begin * channels_);
    }
  }
}

template void Program::run(Workspace&, const int64_t*, size_t, const int64_t*, const float*, float*, bool, size_t,
                           const OwnStages&);
template void Program::run(Workspace&, const int64_t*, size_t, const int64_t*, const float*, double*, bool, size_t,
                           const OwnStages&);
template void Program::run(Workspace&, const int64_t*, size_t, const int64_t*, const double*, float*, bool, size_t,
                           const OwnStages&);
template void Program::run(Workspace&, const int64_t*, size_t, const int64_t*, const double*, double*, bool, size_t,
                           const OwnStages&);

void Program::tare(size_t environment, const double* zero) {
  Stage& stage = find("tare");
  if (!zero) return stage.memory.clear(environment);
  if (!stage.room) {  // no pad has the stage, so this is the first tare
    stage.room = 1;
    stage.memory.resize(environments(), stage.law->bytes(stage, channels_, taxels()));
  }
  const TareMemory m = tare_memory(stage, stage.memory.at(environment));
  m.flags[0] = 1;
  for (int64_t c = 0; c < channels_; ++c) {
    for (int64_t t = 0; t < taxels(); ++t) m.zero[c * taxels() + t] = static_cast<float>(zero[t * channels_ + c]);
  }
}

bool Program::tared(size_t environment) const {
  return tare_ < stages_.size() && stages_[tare_].memory.at(environment)[0] != 0;
}

void Program::zero(size_t environment, double* out) const {
  const Stage& stage = find("tare");
  const TareMemory m = tare_memory(stage, const_cast<unsigned char*>(stage.memory.at(environment)));
  for (int64_t c = 0; c < channels_; ++c) {
    for (int64_t t = 0; t < taxels(); ++t) out[t * channels_ + c] = stage.room ? m.zero[c * taxels() + t] : 0.0;
  }
}

bool Program::waits_for_tare() const {
  const Stage& stage = find("tare");
  for (size_t env = 0; env < environments(); ++env) {
    const unsigned char* done = stage.memory.at(env) + 1;
    if (!std::all_of(done, done + stage.runs.size(), [](unsigned char flag) { return flag; })) return true;
  }
  return false;
}

std::vector<float> Program::history(size_t environment) const {
  const Stage& stage = find("history");
  const SlotMemory slots = slot_memory(const_cast<unsigned char*>(stage.memory.at(environment)));
  const int64_t size = channels_ * stage.taxels();
  std::vector<float> outputs;
  outputs.reserve(stage.room * size);
  for (int64_t k = 0; k < stage.room; ++k) {
    const float* slot = slots.values + (*slots.next + k) % stage.room * size;
    outputs.insert(outputs.end(), slot, slot + size);
  }
  return outputs;
}

std::vector<size_t> Program::memory_bytes() const {
  std::vector<size_t> bytes;
  for (const Stage& stage : stages_) bytes.push_back(stage.memory.bytes());
  return bytes;
}

template <class T>
void reduce_pads(const T* readings, int64_t channels, const int32_t* touched, int64_t count, const int64_t* slots,
                 const double* positions, PadReduction reduction, int64_t width, double* out) {
  for (int64_t k = 0; k < count; ++k) {
    const int64_t t = touched ? touched[k] : k;
    if (slots[t] < 0) continue;
    const T* reading = readings + t * channels;
    double *place = out + slots[t] * width, square = 0.0;
    for (int64_t c = 0; c < channels; ++c) {
      const double value = reading[c];
      if (reduction == PadReduction::kSum) place[c] += value;
      square += value * value;
    }
    const double magnitude = std::sqrt(square);
    if (reduction == PadReduction::kPeak) place[0] = std::max(place[0], magnitude);
    if (reduction == PadReduction::kCenter) {
      for (int i = 0; i < 3; ++i) place[i] += magnitude * positions[3 * t + i];
      place[3] += magnitude;
    }
  }
}

template void reduce_pads(const float*, int64_t, const int32_t*, int64_t, const int64_t*, const double*, PadReduction, int64_t,
                     double*);
template void reduce_pads(const double*, int64_t, const int32_t*, int64_t, const int64_t*, const double*, PadReduction, int64_t,
                     double*);

}  // namespace tactile
