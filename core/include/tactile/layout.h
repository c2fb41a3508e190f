// Skins in files, which `tactile_sim export` writes, for programs without Python.
#pragma once

#include <mujoco/mujoco.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tactile/contacts.h"
#include "tactile/readings.h"

namespace tactile {

// Taxels that are read together, and what they measure.
struct Pad {
  std::string name, body, quantity, unit;
  size_t first = 0, last = 0;  // taxels in the skin
  size_t channels = 0;
  size_t function = 0;  // index in `Layout::functions`
};

// The content of a file.
struct Layout {
  Skin skin;
  std::vector<Pad> pads;
  std::vector<Function> functions;  // each combination of touch and response function that pads have
  std::vector<std::string> bodies;  // names of all bodies of the scene, by id
};

// Throws std::runtime_error if the file cannot be read or is invalid.
Layout load_layout(const std::string& path);

// The readings of a skin in a MuJoCo simulation, before any signal chain.
class SkinReader {
 public:
  // Throws std::runtime_error if the model does not have the bodies and geoms of the layout.
  SkinReader(const mjModel& model, std::shared_ptr<const Layout> layout);
  SkinReader(const mjModel& model, Layout layout)
      : SkinReader(model, std::make_shared<const Layout>(std::move(layout))) {}

  const std::vector<Pad>& pads() const { return layout_->pads; }
  const Skin& skin() const { return layout_->skin; }
  // Compute the readings from the contacts in `data`. After mj_step, they are those at the beginning of the step.
  void read(const mjData& data);
  // The readings of a pad (taxels, channels).
  Range<const double> readings(const Pad& pad) const;

 private:
  const mjModel& model_;
  std::shared_ptr<const Layout> layout_;
  SkinScratch scratch_;
  std::vector<Contact> contacts_;
  std::vector<ContactIds> ids_;
  struct Values {
    std::vector<double> readings;  // of all taxels
    std::vector<int64_t> touched;  // taxels whose readings may not be 0
  };
  std::vector<Values> values_;  // for each function
};

}  // namespace tactile
