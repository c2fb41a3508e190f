#include "tactile/batch.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace tactile {

void forward(const mjModel& model, mjData& data) {
  mj_checkPos(&model, &data);
  mj_checkVel(&model, &data);
  mj_forward(&model, &data);
  mj_checkAcc(&model, &data);
}

void integrate(const mjModel& model, mjData& data) {
  switch (model.opt.integrator) {
    case mjINT_EULER: return mj_Euler(&model, &data);
    case mjINT_RK4: return mj_RungeKutta(&model, &data, 4);
    case mjINT_IMPLICIT:
    case mjINT_IMPLICITFAST: return mj_implicit(&model, &data);
    // The discrete integrator, which has no public function. mj_step2 solves again from the same warm start, so the
    // result is bitwise identical.
    default: return mj_step2(&model, &data);
  }
}

void Forwarding::read(std::vector<double>& values) const {
  // Results of each stage, in case mj_forward was called for another state in the meantime.
  const std::pair<const mjtNum*, size_t> results[] = {
      {data_.xpos, 3 * model_.nbody}, {data_.cvel, 6 * model_.nbody}, {data_.qacc, model_.nv}};
  constexpr size_t option_size = (sizeof model_.opt + sizeof(double) - 1) / sizeof(double);
  const size_t state_size = mj_stateSize(&model_, mjSTATE_INTEGRATION);
  values.resize(state_size + 9 * model_.nbody + model_.nv + option_size);
  double* out = values.data();
  mj_getState(&model_, &data_, out, mjSTATE_INTEGRATION);
  out += state_size;
  for (const auto& [result, size] : results) {
    if (size) std::memcpy(out, result, size * sizeof(double));
    out += size;
  }
  std::memcpy(out, &model_.opt, sizeof model_.opt);
}

bool Forwarding::holds() {
  if (values_.empty()) return false;
  read(now_);
  return std::memcmp(now_.data(), values_.data(), now_.size() * sizeof(double)) == 0;
}

Forwarding::Need Forwarding::begin() {
  if (holds()) return kNothing;
  if (!controls_valid()) return kValidControls;
  mj_checkPos(&model_, &data_);
  mj_checkVel(&model_, &data_);
  return kForward;
}

void Forwarding::end() {
  mj_checkAcc(&model_, &data_);
  read(values_);
}

bool Forwarding::controls_valid() const {
  return std::all_of(data_.ctrl, data_.ctrl + model_.nu, [](double value) { return std::abs(value) < mjMAXVAL; });
}

bool Forwarding::unstable() const {
  const mjWarningStat* warning = data_.warning;
  return warning[mjWARN_BADQPOS].number || warning[mjWARN_BADQVEL].number || warning[mjWARN_BADQACC].number;
}

#ifdef TACTILE_HAS_WORLDS

namespace {

// Arguments of `record_one` in addition to those of mjfBatchFunc.
struct Job {
  int steps;
  const Recording& out;
};

void copy_row(const mjtNum* from, double* to, int env, int64_t size) {
  if (size) std::memcpy(to + env * size, from, size * sizeof(double));
}

// MuJoCo leaves this function with longjmp if it raises an error.
void record_one(const mjModel* model, mjData* data, int env, void* argument) {
  const Job& job = *static_cast<const Job*>(argument);
  const Recording& out = job.out;
  forward(*model, *data);
  if (data->ncon > out.capacity) {
    out.counts[env] = -data->ncon;
    return;
  }
  out.counts[env] =
      read_contacts(*model, *data, out.contacts + env * out.capacity, out.ids + env * out.capacity);
  copy_row(data->xpos, out.xpos, env, 3 * model->nbody);
  copy_row(data->xmat, out.xmat, env, 9 * model->nbody);
  copy_row(data->qfrc_actuator, out.qfrc_actuator, env, model->nv);
  copy_row(data->sensordata, out.sensordata, env, model->nsensordata);
  if (job.steps > 0) integrate(*model, *data);
  for (int k = 1; k < job.steps; ++k) mj_step(model, data);
}

}  // namespace

Worlds::Worlds(const mjModel& model, int count, int threads) {
  char error[1000] = "";
  for (const bool persistent : {false, true}) {  // models with sleep need one mjData for each environment
    const mjBatchConfig config{threads, persistent};
    batch_.reset(mjb_makeBatch(&model, count, &config, error, sizeof error));
    if (batch_) return;
  }
  throw std::runtime_error(error);
}

std::pair<int64_t, int> Worlds::component(int bit) {
  int size = 0;
  const double* first = mjb_stateComponent(batch_.get(), bit, &size);
  return {size ? first - states() : 0, size};
}

int Worlds::reset(const int* envs, int count, const int* keyframes) {
  return mjb_reset(batch_.get(), envs, count, keyframes, mjSTAGE_NONE);
}

int Worlds::record(const int* envs, int count, int steps, const Recording& out) {
  Job job{steps, out};
  return mjb_apply(batch_.get(), envs, count, record_one, &job, steps > 0);
}

#endif

}  // namespace tactile
