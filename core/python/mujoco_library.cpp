// MuJoCo's functions, from the library that the Python package `mujoco` has loaded. `_core` is not linked against
// that library, because its path depends on the installation.
#include <dlfcn.h>
#include <mujoco/mujoco.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <stdexcept>
#include <string>

#include "tactile/batch.h"

namespace nb = nanobind;

static void* module_with_mujoco;

void load_mujoco() {
  const auto path = nb::cast<std::string>(nb::module_::import_("mujoco._functions").attr("__file__"));
  module_with_mujoco = dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (!module_with_mujoco) throw nb::import_error(dlerror());
}

static void* found(const char* name) {
  void* const function = dlsym(module_with_mujoco, name);  // searches the libraries of the module, too
  if (!function) throw std::runtime_error(dlerror());
  return function;
}

#define FORWARD(type, name, parameters, arguments)                                \
  extern "C" type name parameters {                                               \
    static const auto function = reinterpret_cast<decltype(&name)>(found(#name)); \
    return function arguments;                                                    \
  }

FORWARD(void, mj_step, (const mjModel* m, mjData* d), (m, d))
FORWARD(void, mj_step2, (const mjModel* m, mjData* d), (m, d))
FORWARD(void, mj_forward, (const mjModel* m, mjData* d), (m, d))
FORWARD(void, mj_checkPos, (const mjModel* m, mjData* d), (m, d))
FORWARD(void, mj_checkVel, (const mjModel* m, mjData* d), (m, d))
FORWARD(void, mj_checkAcc, (const mjModel* m, mjData* d), (m, d))
FORWARD(void, mj_Euler, (const mjModel* m, mjData* d), (m, d))
FORWARD(void, mj_implicit, (const mjModel* m, mjData* d), (m, d))
FORWARD(void, mj_RungeKutta, (const mjModel* m, mjData* d, int n), (m, d, n))
FORWARD(int, mj_stateSize, (const mjModel* m, int signature), (m, signature))
FORWARD(void, mj_getState, (const mjModel* m, const mjData* d, mjtNum* state, int signature), (m, d, state, signature))

#ifdef TACTILE_HAS_WORLDS
FORWARD(mjBatch*, mjb_makeBatch, (const mjModel* m, int n, const mjBatchConfig* config, char* error, int size),
        (m, n, config, error, size))
FORWARD(void, mjb_deleteBatch, (mjBatch* b), (b))
FORWARD(const mjModel*, mjb_model, (const mjBatch* b), (b))
FORWARD(int, mjb_nsim, (const mjBatch* b), (b))
FORWARD(int, mjb_nthread, (const mjBatch* b), (b))
FORWARD(int, mjb_nstate, (const mjBatch* b), (b))
FORWARD(int, mjb_persistent, (const mjBatch* b), (b))
FORWARD(mjtNum*, mjb_state, (mjBatch* b), (b))
FORWARD(mjtNum*, mjb_stateComponent, (mjBatch* b, int component, int* size), (b, component, size))
FORWARD(mjWarningStat*, mjb_warning, (mjBatch* b), (b))
FORWARD(const char*, mjb_error, (const mjBatch* b, int env), (b, env))
FORWARD(int, mjb_step, (mjBatch* b, const int* ids, int n, int steps, int stage), (b, ids, n, steps, stage))
FORWARD(int, mjb_reset, (mjBatch* b, const int* ids, int n, const int* keys, int stage), (b, ids, n, keys, stage))
FORWARD(int, mjb_apply, (mjBatch* b, const int* ids, int n, mjfBatchFunc callback, void* argument, int save),
        (b, ids, n, callback, argument, save))
#endif
