// The computations of the stages of signal chains.
#pragma once

#include "tactile/chain.h"

namespace tactile {

// A stage in one environment at one reading.
struct StageCall {
  const Stage& stage;
  const double* parameters;   // (runs, columns)
  const float* constants;     // of the environment
  size_t constant_count;
  const int16_t* deviations;  // of the environment
  unsigned char* memory;      // of the environment
  const Now& now;
  const float* normals;  // table of normally distributed numbers
  Workspace& w;

  double parameter(size_t run, int64_t column) const { return parameters[run * stage.columns + column]; }
  float single(size_t run, int64_t column) const { return static_cast<float>(parameter(run, column)); }
};

struct StageLaw {
  const char* key;
  // Memory of each environment for readings with this number of channels [bytes].
  size_t (*bytes)(const Stage& stage, int64_t channels, int64_t skin_taxels);
  void (*compute)(StageCall& call);
  int64_t columns;  // least number of parameters of each run
  // Whether the other numbers of a stage fit its runs; null: it has none.
  bool (*fits)(const Stage& stage, int64_t channels, int64_t skin_taxels);
};

// Return the computation of a stage, or null if the library has none.
const StageLaw* find_law(const std::string& key);

// Memory of the tare: flags that are not 0 once the environment (first) or a run is tared, and the readings
// (channels, taxels of the skin) to subtract, if there is room for them.
struct TareMemory {
  uint8_t* flags;
  float* zero;
};
TareMemory tare_memory(const Stage& stage, unsigned char* memory);

// Memory of the delay, which stores readings in slots. For each slot: the arrival step of each run, the validity
// of each taxel, and the values (channels, taxels).
struct DelayMemory {
  int64_t* oldest;  // index of the slot with the oldest reading
  int64_t* count;   // number of stored readings
  int64_t* arrivals;
  uint8_t* valid;
  unsigned char* values;
  size_t slot_bytes;  // of the values
  size_t bytes;       // of everything
};
DelayMemory delay_memory(const Stage& stage, int64_t channels, unsigned char* memory);

// Memory of smoothing and history: the number of the next slot, and slots of values (channels, taxels).
struct SlotMemory {
  int64_t* next;
  float* values;
};
SlotMemory slot_memory(unsigned char* memory);

}  // namespace tactile
