#include "tactile/layout.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace tactile {

namespace {

constexpr char kMagic[] = "tactile_sim skin 1\n";

// The named arrays in a file: after the first line, each has a line with its name and size [bytes], and its bytes.
class Arrays {
 public:
  explicit Arrays(const std::string& path) : path_(path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) fail("cannot be read");
    content_.assign(std::istreambuf_iterator<char>(file), {});
    size_t at = sizeof kMagic - 1;
    if (content_.compare(0, at, kMagic) != 0) fail("is no skin of this version; write it with tactile_sim export");
    while (at < content_.size()) {
      const size_t end = content_.find('\n', at);
      if (end == std::string::npos) fail("is damaged");
      std::istringstream line(content_.substr(at, end - at));
      std::string name;
      size_t size = 0;
      if (!(line >> name >> size) || size > content_.size() - end - 1) fail("is damaged");
      arrays_[name] = {end + 1, size};
      at = end + 1 + size;
    }
  }

  bool has(const std::string& name) const { return arrays_.count(name) > 0; }

  template <class T>
  std::vector<T> get(const std::string& name) const {
    const auto found = arrays_.find(name);
    if (found == arrays_.end() || found->second.second % sizeof(T) != 0) fail("lacks a valid array " + name);
    std::vector<T> values(found->second.second / sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), content_.data() + found->second.first, found->second.second);
    return values;
  }

  // A text of several lines.
  std::vector<std::string> lines(const std::string& name) const {
    const auto text = get<char>(name);
    std::istringstream stream(std::string(text.begin(), text.end()));
    std::vector<std::string> found;
    for (std::string line; std::getline(stream, line);) found.push_back(line);
    return found;
  }

  [[noreturn]] void fail(const std::string& reason) const { throw std::runtime_error(path_ + ": " + reason); }

 private:
  std::string path_, content_;
  std::map<std::string, std::pair<size_t, size_t>> arrays_;
};

template <class T>
Range<const T> range(const std::vector<T>& values) {
  return {values.data(), values.size()};
}

Skin skin_of(const Arrays& file) {
  Taxels taxels;
  const auto positions = file.get<Vec3>("positions"), normals = file.get<Vec3>("normals"),
             extents = file.get<Vec3>("extents");  // area, spacing, limit
  const auto begin = file.get<int64_t>("begin");
  taxels.neighbors = file.get<int32_t>("neighbors"), taxels.patches = file.get<Patch>("patches");
  if (file.has("layers")) taxels.layers = file.get<double>("layers");
  taxels.along_surface = file.get<uint8_t>("along_surface").at(0) != 0;
  const auto elastic_taxels = file.get<ElasticTaxel>("elastic_taxels");
  const auto place = file.get<int64_t>("place"), roots = file.get<int64_t>("roots");
  const auto points = file.get<double>("points"), node_normals = file.get<double>("node_normals"),
             corners = file.get<double>("corners");
  const auto beside = file.get<int32_t>("beside");
  const auto nodes = file.get<BoxNode>("nodes"), mesh_nodes = file.get<BoxNode>("mesh_nodes");
  const auto solids = file.get<Solid>("solids");
  auto axes = file.get<Mat3>("axes");
  const size_t n = positions.size();
  if (normals.size() != n || extents.size() != n || begin.size() != n + 1) {
    file.fail("has arrays that do not fit each other");
  }
  for (size_t t = 0; t < n; ++t) {
    taxels.list.push_back({positions[t], normals[t], extents[t].x, extents[t].y, extents[t].z,
                           static_cast<int32_t>(begin[t]), static_cast<int32_t>(begin[t + 1])});
  }
  Skin skin{std::move(taxels),
            Elastic({range(elastic_taxels), range(place), range(points), range(beside), range(nodes),
                     range(node_normals), range(roots), range(solids), range(corners), range(mesh_nodes)}),
            std::move(axes),
            file.get<SkinGeom>("geoms"),
            file.get<int64_t>("patch_bodies"),
            file.get<int64_t>("slots"),
            static_cast<size_t>(file.get<int64_t>("bodies_with_skin").at(0))};
  skin.check();
  skin.taxels.sort_into_cells();
  return skin;
}

Layout layout_of(const Arrays& file) {
  Layout layout{skin_of(file), {}, {}, file.lines("bodies")};
  const Skin& skin = layout.skin;
  if (skin.slots.size() != layout.bodies.size() || skin.elastic.solids() != skin.geoms.size()) {
    file.fail("has bodies or geoms that do not fit each other");
  }
  for (const std::string& line : file.lines("functions")) {
    std::istringstream words(line);
    int quantity, law, mean, in_taxel_axes;
    if (!(words >> quantity >> law >> mean >> in_taxel_axes)) file.fail("has an invalid function");
    const std::string factors = "factors" + std::to_string(layout.functions.size());
    layout.functions.push_back({static_cast<Quantity>(quantity), static_cast<Law>(law), mean != 0, in_taxel_axes != 0,
                                file.get<double>(factors)});
    const Function& function = layout.functions.back();
    if (!skin.fits(function, channels_of(function.quantity))) file.fail("has an invalid function");
  }
  for (const std::string& line : file.lines("pads")) {  // fields separated by tabs
    std::istringstream fields(line);
    Pad pad;
    std::string numbers;
    std::getline(fields, pad.name, '\t'), std::getline(fields, pad.body, '\t');
    std::getline(fields, pad.quantity, '\t'), std::getline(fields, pad.unit, '\t');
    if (!(fields >> pad.first >> pad.last >> pad.channels >> pad.function) || pad.first > pad.last ||
        pad.last > skin.taxels.size() || pad.function >= layout.functions.size() ||
        pad.channels != static_cast<size_t>(channels_of(layout.functions[pad.function].quantity))) {
      file.fail("has an invalid pad");
    }
    layout.pads.push_back(std::move(pad));
  }
  return layout;
}

}  // namespace

Layout load_layout(const std::string& path) {
  const Arrays file(path);
  try {
    return layout_of(file);
  } catch (const std::logic_error& error) {
    file.fail(std::string("is damaged: ") + error.what());
  }
}

SkinReader::SkinReader(const mjModel& model, std::shared_ptr<const Layout> layout)
    : model_(model), layout_(std::move(layout)) {
  if (static_cast<size_t>(model.ngeom) != layout_->skin.geoms.size() || static_cast<size_t>(model.nbody) != layout_->bodies.size()) {
    throw std::runtime_error("the skin belongs to another scene: it has " + std::to_string(layout_->bodies.size()) +
                             " bodies and " + std::to_string(layout_->skin.geoms.size()) + " geoms, the model " +
                             std::to_string(model.nbody) + " and " + std::to_string(model.ngeom));
  }
  for (int body = 0; body < model.nbody; ++body) {
    const char* name = mj_id2name(&model, mjOBJ_BODY, body);
    if (layout_->bodies[body] != (name ? name : "")) {
      throw std::runtime_error("the skin belongs to another scene: its body " + std::to_string(body) + " is " +
                               layout_->bodies[body] + ", not " + (name ? name : "unnamed"));
    }
  }
  for (const Function& function : layout_->functions) {
    values_.push_back({std::vector<double>(layout_->skin.taxels.size() * channels_of(function.quantity)), {}});
  }
}

void SkinReader::read(const mjData& data) {
  contacts_.resize(data.ncon), ids_.resize(data.ncon);
  const auto count = static_cast<size_t>(read_contacts(model_, data, contacts_.data(), ids_.data()));
  const BodyPoses poses{reinterpret_cast<const Vec3*>(data.xpos), reinterpret_cast<const Mat3*>(data.xmat)};
  for (size_t k = 0; k < values_.size(); ++k) {
    auto& [readings, touched] = values_[k];
    const Function& function = layout_->functions[k];
    const int channels = channels_of(function.quantity);
    for (const int64_t t : touched) std::fill_n(readings.data() + t * channels, channels, 0.0);
    layout_->skin.read({contacts_.data(), count}, ids_.data(), poses, function, scratch_, readings.data());
    std::swap(touched, scratch_.touched);
  }
}

Range<const double> SkinReader::readings(const Pad& pad) const {
  return {values_[pad.function].readings.data() + pad.first * pad.channels, (pad.last - pad.first) * pad.channels};
}

}  // namespace tactile
