// Steps of one or many environments of a MuJoCo model.
#pragma once

#include <mujoco/mujoco.h>
#if __has_include(<mujoco/mjbatch.h>)  // earlier versions of MuJoCo have no batches
#define TACTILE_HAS_WORLDS
#include <mujoco/mjbatch.h>
#endif

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tactile/contacts.h"

namespace tactile {

// Advance one time step from the results of mj_forward in `data`.
void integrate(const mjModel& model, mjData& data);

// Compute everything that depends on the state, as the first part of mj_step does.
void forward(const mjModel& model, mjData& data);

// Avoids repeated calls of mj_forward for an mjData. The caller calls it between `begin` and `end`, because MuJoCo's
// errors are handled by whoever calls it.
class Forwarding {
 public:
  enum Need { kNothing, kForward, kValidControls };

  // The model and the data must exist as long as this object.
  Forwarding(const mjModel& model, mjData& data) : model_(model), data_(data) {}

  // Whether the results in the data hold, since state, inputs and options have not changed since `end`. Changes of
  // other parts of the model are not noticed.
  bool holds();
  // What the results need to hold: nothing, mj_forward, or controls that are finite and below mjMAXVAL. Checks
  // positions and velocities before mj_forward, like mj_step.
  Need begin();
  // Check accelerations after mj_forward, and remember for which state it was called.
  void end();
  // Whether MuJoCo has found invalid positions, velocities or accelerations since the last reset.
  bool unstable() const;
  // Whether all controls are finite and below mjMAXVAL.
  bool controls_valid() const;

  const mjModel& model() const { return model_; }
  const mjData& data() const { return data_; }

 private:
  void read(std::vector<double>& values) const;

  const mjModel& model_;
  mjData& data_;
  std::vector<double> values_, now_;
};

#ifdef TACTILE_HAS_WORLDS

// Where Worlds::record writes the results of each environment.
struct Recording {
  Contact* contacts;  // (n, capacity)
  ContactIds* ids;    // (n, capacity)
  int32_t* counts;    // (n,) number of contacts; if they do not fit, the negative capacity that they need
  int64_t capacity;
  double *xpos, *xmat, *qfrc_actuator, *sensordata;  // (n, ...) fields of mjData
};

// Environments of one model, stepped by MuJoCo's threads. Results equal those of environments stepped alone.
class Worlds {
 public:
  // Throws std::runtime_error if MuJoCo rejects the model or runs out of memory.
  Worlds(const mjModel& model, int count, int threads);

  const mjModel& model() const { return *mjb_model(batch_.get()); }
  int count() const { return mjb_nsim(batch_.get()); }
  int threads() const { return mjb_nthread(batch_.get()); }
  bool persistent() const { return mjb_persistent(batch_.get()); }
  int state_size() const { return mjb_nstate(batch_.get()); }
  double* states() { return mjb_state(batch_.get()); }  // (n, state_size)
  // First column of a component (one mjtState bit) in a state, and its size.
  std::pair<int64_t, int> component(int bit);
  mjWarningStat* warnings() { return mjb_warning(batch_.get()); }  // (n, mjNWARNING)
  // Error that MuJoCo raised in an environment in the last call; empty if there was none.
  std::string error(int env) const { return mjb_error(batch_.get(), env); }

  // The following functions return the number of environments in which MuJoCo raised an error.
  int step(int steps) { return mjb_step(batch_.get(), nullptr, 0, steps, mjSTAGE_NONE); }
  int reset(const int* envs, int count, const int* keyframes);
  // Compute and record the current states, then step. An environment whose contacts do not fit does not step.
  int record(const int* envs, int count, int steps, const Recording& out);

 private:
  struct Delete {
    void operator()(mjBatch* batch) const { mjb_deleteBatch(batch); }
  };
  std::unique_ptr<mjBatch, Delete> batch_;
};

#endif

}  // namespace tactile
