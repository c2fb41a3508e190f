// Step a scene and print the sum of the forces on each pad: skin scene.mjb skin.layout [steps]
#include <mujoco/mujoco.h>
#include <tactile/layout.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>

namespace {

mjModel* load(const char* path) {
  char error[1000] = "cannot be read";
  const char* end = std::strrchr(path, '.');
  mjModel* model = end && std::strcmp(end, ".mjb") == 0 ? mj_loadModel(path, nullptr)
                                                        : mj_loadXML(path, nullptr, error, sizeof error);
  if (!model) std::fprintf(stderr, "%s: %s\n", path, error);
  return model;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: skin SCENE LAYOUT [STEPS]\n");
    return 2;
  }
  mjModel* model = load(argv[1]);
  if (!model) return 2;
  mjData* data = mj_makeData(model);
  int code = 0;
  try {
    tactile::SkinReader reader(*model, tactile::load_layout(argv[2]));
    for (int step = argc > 3 ? std::atoi(argv[3]) : 500; step > 0; --step) mj_step(model, data);
    reader.read(*data);
    for (const tactile::Pad& pad : reader.pads()) {
      const auto readings = reader.readings(pad);
      double sum[3] = {};
      for (size_t k = 0; k < readings.size(); ++k) sum[k % pad.channels] += readings[k];
      std::printf("%s: %zu taxels, %s", pad.name.c_str(), pad.last - pad.first, pad.quantity.c_str());
      for (size_t channel = 0; channel < pad.channels; ++channel) std::printf(" %.9g", sum[channel]);
      std::printf(" %s\n", pad.unit.c_str());
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    code = 2;
  }
  mj_deleteData(data);
  mj_deleteModel(model);
  return code;
}
