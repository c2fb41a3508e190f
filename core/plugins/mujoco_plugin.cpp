// MuJoCo plugin `tactile.skin`: sensors whose values are the readings of a skin that `tactile_sim export` wrote.
#include <mujoco/mujoco.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "tactile/layout.h"

namespace {

using tactile::Layout;
using tactile::Pad;
using tactile::SkinReader;

// Report an error in MuJoCo's way: the compiler and the Python package turn it into an exception.
[[noreturn]] void fail(const mjModel& model, int instance, const std::string& reason) {
  const char* name = mj_id2name(&model, mjOBJ_PLUGIN, instance);
  mju_error("plugin tactile.skin%s%s: %s", name ? " " : "", name ? name : "", reason.c_str());
  std::abort();
}

std::shared_ptr<const Layout> layout_of(const mjModel& model, int instance) {
  const char* path = mj_getPluginConfig(&model, instance, "layout");
  std::string reason = "the key 'layout' is missing: the path of a file that tactile_sim export wrote";
  if (path && *path) {
    try {
      return std::make_shared<const Layout>(tactile::load_layout(path));
    } catch (const std::exception& error) {
      reason = error.what();
    }
  }
  fail(model, instance, reason);
}

// The pads of a sensor: a single one if its name is that of the pad after "tactile/", otherwise all.
std::vector<Pad> pads_of(const Layout& layout, const mjModel& model, int sensor) {
  const char* name = mj_id2name(&model, mjOBJ_SENSOR, sensor);
  for (const Pad& pad : layout.pads) {
    if (name && "tactile/" + pad.name == name) return {pad};
  }
  return layout.pads;
}

// A sensor of an instance, and where its values are in `sensordata`.
struct Sensor {
  std::vector<Pad> pads;
  int address;
};

// The memory of an instance in one mjData.
struct Instance {
  SkinReader reader;
  std::vector<Sensor> sensors;
};

Instance& instance_of(const mjData& data, int instance) {
  return *reinterpret_cast<Instance*>(data.plugin_data[instance]);
}

int count_values(const mjModel* model, int instance, int sensor) {
  size_t count = 0;
  const auto layout = layout_of(*model, instance);
  for (const Pad& pad : pads_of(*layout, *model, sensor)) count += (pad.last - pad.first) * pad.channels;
  return static_cast<int>(count);
}

int create(const mjModel* model, mjData* data, int instance) {
  const auto layout = layout_of(*model, instance);
  std::string reason;
  try {
    auto made = std::make_unique<Instance>(Instance{SkinReader(*model, layout), {}});
    for (int sensor = 0; sensor < model->nsensor; ++sensor) {
      if (model->sensor_type[sensor] == mjSENS_PLUGIN && model->sensor_plugin[sensor] == instance) {
        made->sensors.push_back({pads_of(*layout, *model, sensor), model->sensor_adr[sensor]});
      }
    }
    data->plugin_data[instance] = reinterpret_cast<uintptr_t>(made.release());
    return 0;
  } catch (const std::exception& error) {
    reason = error.what();
  }
  fail(*model, instance, reason);
}

void destroy(mjData* data, int instance) {
  delete &instance_of(*data, instance);
  data->plugin_data[instance] = 0;
}

void compute(const mjModel*, mjData* data, int instance, int) {
  Instance& self = instance_of(*data, instance);
  self.reader.read(*data);
  for (const Sensor& sensor : self.sensors) {
    mjtNum* out = data->sensordata + sensor.address;
    for (const Pad& pad : sensor.pads) {
      const auto readings = self.reader.readings(pad);
      out = std::copy(readings.begin(), readings.end(), out);
    }
  }
}

}  // namespace

mjPLUGIN_LIB_INIT(tactile) {
  static const char* const keys[] = {"layout"};
  mjpPlugin plugin;
  mjp_defaultPlugin(&plugin);
  plugin.name = "tactile.skin";
  plugin.nattribute = 1;
  plugin.attributes = keys;
  plugin.capabilityflags = mjPLUGIN_SENSOR;
  plugin.needstage = mjSTAGE_ACC;  // contact forces
  plugin.nstate = [](const mjModel*, int) { return 0; };
  plugin.nsensordata = count_values;
  plugin.init = create;
  plugin.destroy = destroy;
  plugin.reset = [](const mjModel*, mjtNum*, void*, int) {};
  plugin.compute = compute;
  mjp_registerPlugin(&plugin);
}
