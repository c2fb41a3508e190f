// Signal chains, whose stages turn ideal readings into those of a real sensor, in many environments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace tactile {

// Taxels [begin, end) of the skin, and the index of the first one among the taxels of a stage.
struct TaxelRange {
  int64_t begin, end, first;

  int64_t size() const { return end - begin; }
};

// Outputs of a converter as 16-bit numbers: code k is the value (least + k) * step.
struct Codes {
  double step = 0.0;  // 0: values are stored as float32
  int32_t least = 0;

  explicit operator bool() const { return step > 0.0; }
};

// Data of the current reading in one environment.
struct Now {
  int64_t step;     // number of steps since the start or the last reset
  double interval;  // time since the last stored reading [s]; 0 if there is none
  double timestep;  // of the simulation [s]
  bool first;       // no reading has been stored yet
  bool again;       // a reading of this step is stored; the new one replaces it
  bool keep;        // whether to update the memory
  uint64_t key;     // key for random numbers, from the seed, the stage and the step
};

// Arrays in which one thread computes the readings of an environment.
struct Workspace {
  Workspace(std::vector<float> axes, int64_t channels);

  float* row(int64_t channel) { return values.data() + channel * taxels; }

  int64_t channels, taxels;
  std::vector<float> axes;     // (3, taxels) normals in the frame of the readings; 0 in the world frame
  std::vector<float> values;   // (channels, taxels) readings
  std::vector<uint8_t> valid;  // (taxels,) 1 where the reading is valid
  // (blocks of kRest taxels,) 0: readings have been 0 since the last reset; kLoaded: ideal readings are not 0
  std::vector<uint8_t> awake;
  std::vector<float> last;  // (channels, taxels) last stored output of the previous stage, see Stage::recalled
  std::vector<float> work;  // (3 + channels, taxels) scratch memory
  std::vector<int32_t> indices;  // (2, taxels) scratch memory
  std::vector<float> stored;     // (channels, taxels) readings before a stage that is switched off
  std::vector<uint8_t> stored_valid;
};

// Number of taxels in a block, whose readings are 0 together or not.
constexpr int64_t kRest = 16;
constexpr uint8_t kAwake = 1, kLoaded = 2;

// Memory of one stage in n environments. It starts as zeros.
class StageMemory {
 public:
  void resize(size_t environments, size_t bytes);
  unsigned char* at(size_t environment) {
    return reinterpret_cast<unsigned char*>(lines_.data() + environment * stride_);
  }
  const unsigned char* at(size_t environment) const { return const_cast<StageMemory*>(this)->at(environment); }
  void clear(size_t environment);
  size_t bytes() const { return stride_ * sizeof(Line); }  // of each environment

 private:
  struct alignas(64) Line {
    unsigned char bytes[64];
  };
  std::vector<Line> lines_;
  size_t stride_ = 0;
};

struct StageLaw;

// A stage on all pads that have it. Python computes its numbers; see the class of the same name there.
struct Stage {
  std::string key;                // such as "cross_talk"; other keys than those of the library: an own stage
  uint64_t hash = 0;              // selects the random numbers of the stage
  std::vector<TaxelRange> pads;   // each pad
  std::vector<TaxelRange> runs;   // adjacent pads with the same parameters
  std::vector<uint8_t> bypassed;  // (pads,) 1 if the stage does not change the readings of the pad
  std::vector<int32_t> integers;  // tables that are the same in all environments
  bool linked = false;            // the stages before it recall its last input
  bool recalled = false;          // it must recall its last output, in Workspace::last
  bool rests = false;             // it skips taxels that are not awake
  Codes codes;                    // of all its inputs
  int64_t room = 0;               // number of readings that a delay, tare or history can store
  bool varies = false;            // whether the following numbers differ between environments
  int64_t columns = 0;            // number of parameters of each run
  std::vector<double> parameters;   // (environments or 1, runs, columns)
  std::vector<float> constants;     // (environments or 1, constants)
  std::vector<int16_t> deviations;  // (environments or 1, deviations) of taxels, in units of 1/4096
  StageMemory memory;
  const StageLaw* law = nullptr;

  // Number of taxels that have the stage.
  int64_t taxels() const { return runs.empty() ? 0 : runs.back().first + runs.back().size(); }
};

// Computes stage s of the program in an environment, if it is not one of the library.
using OwnStages = std::function<void(size_t s, int64_t environment, const Now& now)>;

// Signal chains of n environments with the same stages, each with its own seed and memory.
class Program {
 public:
  // `staged` (taxels,): whether each taxel has stages; the others keep their readings, unless there was a tare.
  // `normals`: table of normally distributed numbers, see draws.h.
  Program(double timestep, int64_t channels, std::vector<uint64_t> seeds, const std::vector<uint8_t>& staged,
          std::vector<float> normals);

  // Append a stage. Its parameters, constants and deviations are given for one environment. Throws
  // std::invalid_argument if they do not fit its runs.
  void add(Stage stage);
  // Replace the numbers of a stage that varies in one environment.
  void set_numbers(size_t s, size_t environment, const double* parameters, const float* constants,
                   const int16_t* deviations);
  void set_bypassed(size_t s, std::vector<uint8_t> bypassed) { stages_.at(s).bypassed = std::move(bypassed); }

  // Reset the memory of an environment, except that of the tare.
  void restart(size_t environment, uint64_t seed);

  // Ensure that delays can store another reading of these steps (environments,), before `run` stores it.
  void make_room(const int64_t* steps);

  // Compute the readings of some environments with the first `count` stages.
  // Arrays have one row for each environment: `steps`, `truth` (taxels, channels), and `output` (taxels,
  // channels), which may be null. `keep`: whether to update the memory.
  template <class In, class Out>
  void run(Workspace& w, const int64_t* environments, size_t number, const int64_t* steps, const In* truth,
           Out* output, bool keep, size_t count, const OwnStages& own);

  // Tare an environment: subtract `zero` (taxels, channels) from all later readings. Null: clear the tare.
  void tare(size_t environment, const double* zero);
  bool tared(size_t environment) const;
  // Copy the readings (taxels, channels) that the tare subtracts.
  void zero(size_t environment, double* out) const;
  // Whether an automatic tare is still pending in some environment.
  bool waits_for_tare() const;

  // Last outputs (samples, channels, taxels of the stage) that the stage "history" has stored, oldest first.
  std::vector<float> history(size_t environment) const;

  // Memory of each environment, for each stage [bytes].
  std::vector<size_t> memory_bytes() const;

  int64_t channels() const { return channels_; }
  int64_t taxels() const { return taxels_; }
  size_t environments() const { return seeds_.size(); }
  size_t stages() const { return stages_.size(); }
  const Stage& stage(size_t s) const { return stages_.at(s); }
  int64_t kept(size_t environment) const { return kept_.at(environment); }  // step of the last stored reading, or -1

 private:
  void check(const Stage& stage) const;
  Stage& find(const char* key);
  const Stage& find(const char* key) const { return const_cast<Program*>(this)->find(key); }
  void apply(Workspace& w, size_t environment, int64_t step, bool keep, size_t count, const OwnStages& own);

  double timestep_;
  int64_t channels_, taxels_;
  size_t tare_ = SIZE_MAX;  // index of the stage, if there is one
  std::vector<TaxelRange> unstaged_;
  std::vector<uint64_t> seeds_;
  std::vector<int64_t> kept_;
  std::vector<float> normals_;
  std::vector<Stage> stages_;
  StageMemory awake_;  // which blocks of taxels were awake
};

// How `reduce_pads` combines the readings of a pad: sums of the channels, largest magnitude, or the sum of the taxels'
// positions weighted by magnitude (3) and of the magnitudes.
enum class PadReduction { kSum, kPeak, kCenter };

// Reduce the readings (taxels, channels) of one environment by pad. `out` (pads, width) must be zero.
// `touched` (count,): the taxels to visit, or null for the first `count` taxels. `slots` (taxels,): row of each
// taxel in `out`, or -1 to skip it. `positions` (taxels, 3) [m].
template <class T>
void reduce_pads(const T* readings, int64_t channels, const int32_t* touched, int64_t count, const int64_t* slots,
                 const double* positions, PadReduction reduction, int64_t width, double* out);

// Parameters of the stages hysteresis, viscoelasticity and slow_adaptation, see there.
struct Response {
  double friction;             // fraction of hysteresis
  double creep, creep_time;    // strength and time constant [s] of viscoelasticity
  double remains, decay_time;  // fraction and time constant [s] of slow_adaptation
};

// Compute the output (samples, taxels) of these stages for loads (samples, taxels), in double precision for fits.
// `intervals` (samples,): time since the sample before [s].
void respond(const double* loads, const double* intervals, int64_t samples, int64_t taxels, const Response& law,
             double* out);

}  // namespace tactile
