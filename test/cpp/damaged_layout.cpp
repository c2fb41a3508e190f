// Load damaged copies of a skin, each with one changed byte: damaged_layout SCENE LAYOUT COPY [COUNT]
//
// Changes COUNT random bytes, or by default every byte. Prints how many of the copies were valid and invalid.
#include <mujoco/mujoco.h>
#include <tactile/layout.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <stdexcept>
#include <string>

int main(int argc, char** argv) {
  const std::string copy = argv[3];
  mjModel* model = mj_loadModel(argv[1], nullptr);
  mjData* data = mj_makeData(model);
  for (int step = 0; step < 250; ++step) mj_step(model, data);
  std::ifstream file(argv[2], std::ios::binary);
  std::string content{std::istreambuf_iterator<char>(file), {}};
  std::mt19937 random(0);
  const size_t count = argc > 4 ? std::strtoul(argv[4], nullptr, 10) : content.size();
  int valid = 0, invalid = 0;
  for (size_t k = 0; k < count; ++k) {
    char& byte = content[argc > 4 ? random() % content.size() : k];
    const char before = byte;
    byte ^= 1 << random() % 8;
    std::ofstream(copy, std::ios::binary) << content;
    try {
      tactile::SkinReader reader(*model, tactile::load_layout(copy));
      reader.read(*data);
      ++valid;
    } catch (const std::runtime_error&) {
      ++invalid;
    }
    byte = before;
  }
  std::printf("%d %d\n", valid, invalid);
  mj_deleteData(data);
  mj_deleteModel(model);
}
