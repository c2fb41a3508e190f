// Bindings of skins.
#include "tactile/readings.h"

#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>

#include <memory>
#include <mutex>
#include <tuple>

#include "arrays.h"

namespace {

using tactile::Contact;
using tactile::ContactIds;
using tactile::Load;
using tactile::Mat3;
using tactile::Range;
using tactile::Vec3;

using Matrices = nb::ndarray<const double, nb::numpy, nb::shape<-1, 3, 3>, nb::c_contig, nb::device::cpu>;
using ContactValues = nb::ndarray<const double, nb::numpy, nb::shape<-1, 32>, nb::c_contig, nb::device::cpu>;
using ContactNumbers = nb::ndarray<const int32_t, nb::numpy, nb::shape<-1, 5>, nb::c_contig, nb::device::cpu>;
template <class T, class... Shape>
using Given = nb::ndarray<const T, nb::numpy, Shape..., nb::c_contig, nb::device::cpu>;

template <class T>
std::vector<T> copied(const List<T>& array) {
  return {array.data(), array.data() + array.size()};
}

std::vector<Mat3> matrices(const Matrices& array) {
  const auto* first = reinterpret_cast<const Mat3*>(array.data());
  return {first, first + array.shape(0)};
}

template <class T>
std::vector<T> records(nb::handle array) {
  const Memory memory(array);
  const auto own = memory.records<const T>();
  return {own.begin(), own.end()};
}

nb::ndarray<nb::numpy, uint8_t, nb::ndim<1>> bytes_of(std::vector<Load>&& loads) {
  auto* owned = new std::vector<Load>(std::move(loads));
  return {reinterpret_cast<uint8_t*>(owned->data()), {owned->size() * sizeof(Load)}, owner_of(owned)};
}

Result1<bool> mask(std::vector<char>* owned) {
  return {reinterpret_cast<bool*>(owned->data()), {owned->size()}, owner_of(owned)};
}

// The elastic layer from the arrays of Python's `Quadrature` and `Solids`.
tactile::Elastic elastic(nb::tuple quadrature, nb::tuple solids) {
  require(quadrature.size() == 7 && solids.size() == 3, "quadrature and solids must have 7 and 3 arrays");
  const Memory taxels(quadrature[0]), place(quadrature[1]), own(quadrature[2]), beside(quadrature[3]),
      nodes(quadrature[4]), normals(quadrature[5]), roots(quadrature[6]), table(solids[0]), corners(solids[1]),
      mesh_nodes(solids[2]);
  return tactile::Elastic({taxels.records<const tactile::ElasticTaxel>(), place.records<const int64_t>(),
                           own.records<const double>(), beside.records<const int32_t>(),
                           nodes.records<const tactile::BoxNode>(), normals.records<const double>(),
                           roots.records<const int64_t>(), table.records<const tactile::Solid>(),
                           corners.records<const double>(), mesh_nodes.records<const tactile::BoxNode>()});
}

Range<const Contact> contacts_of(const ContactValues& values, const ContactNumbers& ids) {
  require(values.shape(0) == ids.shape(0), "contacts must have equal numbers of values and ids");
  return {reinterpret_cast<const Contact*>(values.data()), values.shape(0)};
}

const ContactIds* ids_of(const ContactNumbers& ids) { return reinterpret_cast<const ContactIds*>(ids.data()); }

tactile::BodyPoses poses_of(const Vectors& positions, const Matrices& rotations) {
  require(positions.shape(0) == rotations.shape(0), "poses must have equal numbers of positions and rotations");
  return {points(positions), reinterpret_cast<const Mat3*>(rotations.data())};
}

// A skin with the scratch memory of the threads that use it.
class SharedSkin : public tactile::Skin {
 public:
  explicit SharedSkin(tactile::Skin&& skin) : tactile::Skin(std::move(skin)) {}

  // Scratch memory for one call, returned at the end of its scope.
  class Borrowed {
   public:
    explicit Borrowed(const SharedSkin& skin) : skin_(skin) {
      const std::lock_guard lock(skin.mutex_);
      if (skin.idle_.empty()) {
        own_ = std::make_unique<tactile::SkinScratch>();
      } else {
        own_ = std::move(skin.idle_.back());
        skin.idle_.pop_back();
      }
    }
    ~Borrowed() {
      const std::lock_guard lock(skin_.mutex_);
      skin_.idle_.push_back(std::move(own_));
    }
    tactile::SkinScratch& operator*() const { return *own_; }
    tactile::SkinScratch* operator->() const { return own_.get(); }

   private:
    const SharedSkin& skin_;
    std::unique_ptr<tactile::SkinScratch> own_;
  };

  size_t size() const { return taxels.size(); }

  bool has(Range<const ContactIds> contacts) const {
    const int count = static_cast<int>(slots.size()), all = static_cast<int>(geoms.size()), rigid = solids();
    return std::all_of(contacts.begin(), contacts.end(), [&](const ContactIds& own) {
      bool found = true;
      for (int side = 0; side < 2; ++side) {
        // The virtual geom of a flex is only valid if the other side has no geom.
        const int limit = own.geom[1 - side] < 0 ? all : rigid;
        found &= -1 <= own.body[side] && own.body[side] < count && -1 <= own.geom[side] && own.geom[side] < limit;
      }
      return found;
    });
  }
  bool has(Range<const Load> loads) const {
    const auto patches = static_cast<int64_t>(patch_bodies.size());
    return std::all_of(loads.begin(), loads.end(), [&](const Load& own) {
      return 0 <= own.patch && own.patch < patches && -1 <= own.other_patch && own.other_patch < patches &&
             0 <= own.body && own.body < static_cast<int64_t>(bodies) && -1 <= own.other && own.other < solids() &&
             -1 <= own.other_body && own.other_body < static_cast<int64_t>(slots.size());
    });
  }
  Range<const Contact> contacts(const ContactValues& values, const ContactNumbers& ids) const {
    require(has(Range<const ContactIds>{ids_of(ids), ids.shape(0)}), "bodies and geoms must exist");
    return contacts_of(values, ids);
  }
  Range<const Load> loads(const Memory& memory) const {
    const auto table = memory.records<const Load>();
    require(has(table), "patches, bodies and geoms must exist");
    return table;
  }
  tactile::BodyPoses poses(const Vectors& positions, const Matrices& rotations) const {
    require(positions.shape(0) == slots.size(), "poses must have one row for each body");
    return poses_of(positions, rotations);
  }
  void check_environments(const tactile::Function& function, const List<int32_t>& counts,
                          const Given<int32_t, nb::shape<-1, -1, 5>>& ids, size_t first, size_t last,
                          const Out<int32_t, nb::ndim<2>>& touched, const Out<int32_t, nb::ndim<1>>& touched_counts) const {
    const auto* own = reinterpret_cast<const ContactIds*>(ids.data());
    require(fits(function, tactile::channels_of(function.quantity)), "factors must have one number for each taxel");
    for (size_t env = first; env < last; ++env) {
      require(has(Range<const ContactIds>{own + env * ids.shape(1), static_cast<size_t>(counts(env))}),
              "bodies and geoms must exist");
      const Range<const int32_t> before{touched.data() + env * size(), static_cast<size_t>(touched_counts(env))};
      require(within(before, 0, size()), "touched must be taxels");
    }
  }
  // Check that readings fit the taxels.
  template <class T>
  void fit(const tactile::Function& function, int channels, const Out<T, nb::ndim<2>>& out) const {
    require(out.shape(0) == size() && out.shape(1) == static_cast<size_t>(channels) && fits(function, channels),
            "out and factors must have one row for each taxel");
  }

 private:
  // Number of geoms that are no flexes; they come first.
  int solids() const { return static_cast<int>(elastic.solids()); }

  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<tactile::SkinScratch>> idle_;
};

using Borrowed = SharedSkin::Borrowed;

template <class T>
void read(const SharedSkin& self, const tactile::Function& function, const ContactValues& values,
          const ContactNumbers& ids, const Vectors& positions, const Matrices& rotations,
          const Out<T, nb::ndim<2>>& out) {
  self.fit(function, tactile::channels_of(function.quantity), out);
  self.read(self.contacts(values, ids), ids_of(ids), self.poses(positions, rotations), function, *Borrowed(self),
            out.data());
}

// Write the readings due to the contacts in mjData to `out`, zeros.
template <class T>
void read_state(const SharedSkin& self, const tactile::Function& function, const mjModel& scene, const mjData& state,
                const Borrowed& scratch, T* out) {
  require(static_cast<size_t>(scene.nbody) == self.slots.size() &&
              static_cast<size_t>(scene.ngeom) <= self.geoms.size(), "the skin must be of this model");
  const auto room = static_cast<size_t>(state.ncon);
  if (scratch->contacts.size() < room) scratch->contacts.resize(room), scratch->ids.resize(room);
  const int count = tactile::read_contacts(scene, state, scratch->contacts.data(), scratch->ids.data());
  const tactile::BodyPoses poses{reinterpret_cast<const Vec3*>(state.xpos),
                                 reinterpret_cast<const Mat3*>(state.xmat)};
  self.read({scratch->contacts.data(), static_cast<size_t>(count)}, scratch->ids.data(), poses, function, *scratch, out);
}

template <class T>
void read_data(const SharedSkin& self, const tactile::Function& function, uintptr_t model, uintptr_t data,
               const Out<T, nb::ndim<2>>& out) {
  self.fit(function, tactile::channels_of(function.quantity), out);
  read_state(self, function, model_at(model), data_at(data), Borrowed(self), out.data());
}

template <class T>
void gather(const SharedSkin& self, const tactile::Function& function, nb::handle loads, const List<int64_t>& begin,
            const List<int64_t>& taxel, const Numbers& weight, const Rows<double>& values,
            const Out<T, nb::ndim<2>>& out) {
  const Memory memory(loads);
  const auto table = memory.records<const Load>();
  const size_t channels = values.shape(1), entries = taxel.size();
  require(delimits(begin, table.size(), entries) && begin(0) == 0 && weight.size() == entries &&
              (values.shape(0) == table.size() || values.shape(0) == entries) && within(taxel, 0, self.size()),
          "loads, shares, values and out must fit each other");
  self.fit(function, static_cast<int>(channels), out);
  const Borrowed scratch(self);
  scratch->sums.fit(self.size(), static_cast<int>(channels));
  const bool each = values.shape(0) > table.size();
  for (size_t m = 0; m < table.size(); ++m) {
    const int64_t first = begin.data()[m], count = begin.data()[m + 1] - first;
    const auto value = [&](size_t e) { return values.data() + (each ? first + e : m) * channels; };
    tactile::share(table[m], {taxel.data() + first, static_cast<size_t>(count)}, weight.data() + first,
                   function.mean, value, scratch->sums);
  }
  self.write(function, scratch->sums, out.data());
}

template <class T>
void place_in_world(const Vectors& places, const List<int64_t>& offsets, const List<int64_t>& bodies,
                    const Vectors& positions, const Matrices& rotations, const Out<T, nb::shape<-1, 3>>& out) {
  const auto poses = poses_of(positions, rotations);
  require(out.shape(0) == places.shape(0) && delimits(offsets, bodies.size(), places.shape(0)) &&
              within(bodies, 0, positions.shape(0)),
          "points, offsets, bodies and out must fit each other");
  for (size_t pad = 0; pad < bodies.size(); ++pad) {
    const Vec3 origin = poses.positions[bodies.data()[pad]];
    const Mat3 rotation = poses.rotations[bodies.data()[pad]];
    for (int64_t i = offsets.data()[pad]; i < offsets.data()[pad + 1]; ++i) {
      const Vec3 place = rotation * points(places)[i] + origin;
      T* row = out.data() + 3 * i;
      row[0] = static_cast<T>(place.x), row[1] = static_cast<T>(place.y), row[2] = static_cast<T>(place.z);
    }
  }
}

template <class T>
Result1<double> pad_forces(const Rows<T>& values, const Rows<double>& directions, const List<int64_t>& starts,
                           const List<int64_t>& stops) {
  const size_t n = values.shape(0), channels = values.shape(1), pads = starts.size();
  require(directions.shape(1) == channels && (directions.shape(0) == n || directions.shape(0) == 1) &&
              stops.size() == pads && within(starts, 0, n + 1) && within(stops, 0, n + 1),
          "values, directions and ranges must fit each other");
  const size_t stride = directions.shape(0) == n ? channels : 0;
  std::vector<double> out(pads);
  for (size_t p = 0; p < pads; ++p) {
    for (int64_t t = starts.data()[p]; t < stops.data()[p]; ++t) {
      for (size_t c = 0; c < channels; ++c) {
        out[p] += values.data()[t * channels + c] * directions.data()[t * stride + c];
      }
    }
  }
  return array(std::move(out));
}

void bind_class(nb::module_& m) {
  nb::class_<tactile::Function>(m, "SkinFunction", "What the readings of a skin are.")
      .def(
          "__init__",
          [](tactile::Function* self, int quantity, int law, bool mean, bool in_taxel_axes,
             const Numbers& factors) {
            require(0 <= quantity && quantity <= static_cast<int>(tactile::Quantity::kSlip) && 0 <= law &&
                        law <= static_cast<int>(tactile::Law::kThick),
                    "quantity and law must exist");
            new (self) tactile::Function{static_cast<tactile::Quantity>(quantity), static_cast<tactile::Law>(law), mean,
                                         in_taxel_axes, copied<double>(factors)};
          },
          "quantity"_a, "law"_a, "mean"_a, "in_taxel_axes"_a, "factors"_a);

  nb::class_<SharedSkin>(m, "Skin", "The taxels of a scene; several threads can use one skin.")
      .def(
          "__init__",
          [](SharedSkin* self, const Vectors& positions, const Vectors& normals, const Matrices& axes,
             const Rows<double>& extents, const List<int64_t>& begin, const List<int32_t>& neighbors,
             bool along_surface, nb::object patches, const List<int64_t>& patch_bodies, nb::object geoms,
             const List<int64_t>& slots, size_t bodies, nb::tuple quadrature, nb::tuple solids) {
            const size_t n = positions.shape(0);
            require(normals.shape(0) == n && extents.shape(0) == n && extents.shape(1) == 3 &&
                        delimits(begin, n, neighbors.size()),
                    "arrays must have one row for each taxel");
            tactile::Taxels taxels;
            for (size_t t = 0; t < n; ++t) {
              const double* extent = extents.data() + 3 * t;
              taxels.list.push_back({points(positions)[t], points(normals)[t], extent[0], extent[1], extent[2],
                                     static_cast<int32_t>(begin.data()[t]),
                                     static_cast<int32_t>(begin.data()[t + 1])});
            }
            taxels.neighbors = copied<int32_t>(neighbors);
            taxels.along_surface = along_surface;
            taxels.patches = records<tactile::Patch>(patches);
            tactile::Skin skin{std::move(taxels), elastic(quadrature, solids), matrices(axes),
                               records<tactile::SkinGeom>(geoms), copied<int64_t>(patch_bodies),
                               copied<int64_t>(slots), bodies};
            skin.check();
            skin.taxels.sort_into_cells();
            new (self) SharedSkin(std::move(skin));
          },
          "positions"_a, "normals"_a, "axes"_a, "extents"_a, "begin"_a, "neighbors"_a, "along_surface"_a,
          "patches"_a, "patch_bodies"_a, "geoms"_a, "slots"_a, "bodies"_a,
          "quadrature"_a, "solids"_a)
      .def(
          "set_layers",
          [](SharedSkin& self, const Numbers& layers) {
            if (!self.taxels.layers.empty()) return;  // another thread may use them
            self.taxels.layers = copied<double>(layers);
            self.check();
          },
          "layers"_a, "Set the tables of `skin.layer_tables`, before the first use of an elastic layer.")
      .def_prop_ro(
          "patches",
          [](const SharedSkin& self) {
            const auto* first = reinterpret_cast<const uint8_t*>(self.taxels.patches.data());
            return array(std::vector<uint8_t>(first, first + self.taxels.patches.size() * sizeof(tactile::Patch)));
          },
          nb::rv_policy::move, "Memory of the patches, records of `skin.patches.PATCH`.")
      .def_prop_ro(
          "cell_start", [](const SharedSkin& self) { return array(std::vector(self.taxels.cell_start)); },
          nb::rv_policy::move,
          "Start of each cell's taxels in `order`; after the cells of each patch, the end of the last cell.")
      .def_prop_ro(
          "order",
          [](const SharedSkin& self) {
            std::vector<int64_t> order;
            for (const auto& spot : self.taxels.spots) order.push_back(spot.taxel);
            return array(std::move(order));
          },
          nb::rv_policy::move,
          "Indices of the taxels, cell by cell.")
      .def(
          "loads",
          [](const SharedSkin& self, const ContactValues& values, const ContactNumbers& ids,
             const Vectors& positions, const Matrices& rotations) {
            std::vector<Load> loads;
            resolve_loads(self.contacts(values, ids), ids_of(ids), self.geoms, self.patch_bodies,
                          self.poses(positions, rotations), loads);
            return bytes_of(std::move(loads));
          },
          "values"_a, "ids"_a, "positions"_a, "rotations"_a,
          "Return the loads of contacts on bodies with skin, as the memory of records of `skin.loads.LOAD`.")
      .def(
          "contacts_exist",
          [](const SharedSkin& self, const ContactNumbers& ids) {
            return self.has(Range<const ContactIds>{ids_of(ids), ids.shape(0)});
          },
          "ids"_a, "Return whether all bodies and geoms exist.")
      .def(
          "loads_exist",
          [](const SharedSkin& self, nb::object loads) {
            const Memory memory(loads);
            return self.has(memory.records<const Load>());
          },
          "loads"_a, "Return whether all patches, bodies and geoms that loads refer to exist.")
      .def(
          "inside",
          [](const SharedSkin& self, nb::object loads, bool paired) {
            const Memory memory(loads);
            const auto table = self.loads(memory);
            auto* inside = new std::vector<char>(table.size());
            self.mark_inside(table, paired, inside->data());
            return mask(inside);
          },
          "loads"_a, "paired"_a, "Return whether a taxel receives each load; `paired`: those of two surfaces together.")
      .def(
          "press",
          [](const SharedSkin& self, nb::object loads, int law) {
            require(tactile::is_elastic(static_cast<tactile::Law>(law)) &&
                        (static_cast<tactile::Law>(law) != tactile::Law::kThick || !self.taxels.layers.empty()),
                    "the law must be elastic, with its layers");
            const Memory memory(loads);
            const auto table = self.loads(memory);
            const Borrowed scratch(self);
            std::vector<Load> pressed;
            std::vector<int64_t> taxel, group(table.size());
            self.elastic.loads_on_taxels(self.taxels, scratch->elastic, static_cast<tactile::Law>(law), table, group.data(),
                                         pressed, taxel);
            auto* alone = new std::vector<char>(table.size());
            for (size_t m = 0; m < table.size(); ++m) (*alone)[m] = group[m] < 0;
            return std::make_tuple(bytes_of(std::move(pressed)), array(std::move(taxel)), mask(alone));
          },
          "loads"_a, "law"_a,
          "Return the loads on pressed taxels, these taxels, and a mask of the loads that no area can transmit.")
      .def(
          "spread",
          [](const SharedSkin& self, nb::object loads, int law, const Numbers& reach) {
            const Memory memory(loads);
            const auto table = self.loads(memory);
            const Borrowed scratch(self);
            std::vector<int64_t> begin{0}, taxel;
            std::vector<double> weight;
            for (size_t m = 0; m < table.size(); ++m) {
              scratch->search.spread(self.taxels, table[m], static_cast<tactile::Law>(law),
                                     m < reach.size() ? reach.data()[m] : 0.0, taxel, weight);
              begin.push_back(static_cast<int64_t>(taxel.size()));
            }
            return std::make_tuple(array(std::move(begin)), array(std::move(taxel)), array(std::move(weight)));
          },
          "loads"_a, "law"_a, "reach"_a, "Return the taxels around each load and their weights: begin, taxel, weight.")
      .def("gather", gather<float>, "function"_a, "loads"_a, "begin"_a, "taxel"_a, "weight"_a, "values"_a,
           "out"_a.noconvert(), "Write the readings of loads with values (of loads or of shares) to `out`, zeros.")
      .def("gather", gather<double>, "function"_a, "loads"_a, "begin"_a, "taxel"_a, "weight"_a, "values"_a,
           "out"_a.noconvert())
      .def("read", read<float>, "function"_a, "values"_a, "ids"_a, "positions"_a, "rotations"_a,
           "out"_a.noconvert(), "Write the readings due to contacts to `out`, zeros.")
      .def("read", read<double>, "function"_a, "values"_a, "ids"_a, "positions"_a, "rotations"_a,
           "out"_a.noconvert())
      .def("read_data", read_data<double>, "function"_a, "model"_a, "data"_a, "out"_a.noconvert(),
           "Write the readings due to the contacts in mjData to `out`, zeros.")
      .def("read_data", read_data<float>, "function"_a, "model"_a, "data"_a, "out"_a.noconvert())
      .def(
          "read_environments",
          [](const SharedSkin& self, const tactile::Function& function, const List<int32_t>& counts,
             const Given<double, nb::shape<-1, -1, 32>>& values, const Given<int32_t, nb::shape<-1, -1, 5>>& ids,
             const Given<double, nb::shape<-1, -1, 3>>& positions,
             const Given<double, nb::shape<-1, -1, 3, 3>>& rotations, size_t first, size_t last,
             const Out<double, nb::ndim<3>>& taxels, const Out<int32_t, nb::ndim<2>>& touched,
             const Out<int32_t, nb::ndim<1>>& touched_counts, const Out<double, nb::ndim<3>>& wrenches) {
            const size_t n = counts.size(), bodies = self.slots.size();
            require(first <= last && last <= n && values.shape(0) == n && ids.shape(0) == n &&
                        values.shape(1) == ids.shape(1) && positions.shape(0) == n && positions.shape(1) == bodies &&
                        rotations.shape(0) == n && rotations.shape(1) == bodies && taxels.shape(0) == n &&
                        taxels.shape(1) == self.size() &&
                        taxels.shape(2) == static_cast<size_t>(tactile::channels_of(function.quantity)) &&
                        touched.shape(0) == n && touched.shape(1) == self.size() && touched_counts.size() == n &&
                        wrenches.shape(0) == n && wrenches.shape(1) == self.bodies && wrenches.shape(2) == 6 &&
                        within(counts, 0, values.shape(1) + 1) && within(touched_counts, 0, self.size() + 1),
                    "arrays must have one entry for each environment");
            self.check_environments(function, counts, ids, first, last, touched, touched_counts);
            const tactile::ManyContacts contacts{
                counts.data(), reinterpret_cast<const Contact*>(values.data()),
                reinterpret_cast<const ContactIds*>(ids.data()), values.shape(1),
                reinterpret_cast<const Vec3*>(positions.data()), reinterpret_cast<const Mat3*>(rotations.data()), bodies};
            const nb::gil_scoped_release release;
            self.read_environments(contacts, first, last, function, *Borrowed(self),
                                   {taxels.data(), touched.data(), touched_counts.data(), wrenches.data()});
          },
          "function"_a, "counts"_a, "values"_a, "ids"_a, "positions"_a, "rotations"_a, "first"_a, "last"_a,
          "taxels"_a.noconvert(), "touched"_a.noconvert(), "touched_counts"_a.noconvert(), "wrenches"_a.noconvert(),
          "Write the readings and wrenches of environments [first, last).")
      .def(
          "wrenches",
          [](const SharedSkin& self, const ContactValues& values, const ContactNumbers& ids,
             const Vectors& positions, const Matrices& rotations) {
            std::vector<double> out(6 * self.bodies);
            self.net_wrenches(self.contacts(values, ids), ids_of(ids), self.poses(positions, rotations), out.data());
            return array(std::move(out), 6);
          },
          "values"_a, "ids"_a, "positions"_a, "rotations"_a,
          "Return the net contact wrench (b, 6) of each body with skin about its origin, in its frame.")
      .def(
          "at_taxels",
          [](const SharedSkin& self, nb::object loads, const List<int64_t>& begin, const List<int64_t>& taxel) {
            const Memory memory(loads);
            const auto table = memory.records<const Load>();
            require(delimits(begin, table.size(), taxel.size()) && within(taxel, 0, self.size()),
                    "begin must have one number for each load, and the end");
            std::vector<Load> out;
            out.reserve(taxel.size());
            for (size_t m = 0; m < table.size(); ++m) {
              for (int64_t e = begin.data()[m]; e < begin.data()[m + 1]; ++e) {
                out.push_back(table[m]);
                out.back().velocity = velocity_at(table[m], self.taxels[taxel.data()[e]].position);
              }
            }
            return bytes_of(std::move(out));
          },
          "loads"_a, "begin"_a, "taxel"_a,
          "Return each load once for each of its taxels, with the velocity at the taxel's position.")
      .def(
          "k_nearest",
          [](const SharedSkin& self, int64_t patch, const Vectors& places, int64_t k) {
            const auto known = static_cast<int64_t>(self.taxels.patches.size());
            require(0 <= patch && patch < known && 0 <= k &&
                        k <= self.taxels.patches[patch].stop - self.taxels.patches[patch].start,
                    "patch must have k taxels");
            const size_t size = places.shape(0) * k;
            std::vector<int64_t> taxels(size);
            std::vector<double> distances(size);
            for (size_t m = 0; m < places.shape(0); ++m) {
              self.taxels.k_nearest(points(places)[m], patch, k, taxels.data() + m * k, distances.data() + m * k);
            }
            return std::make_tuple(array(std::move(taxels), k), array(std::move(distances), k));
          },
          "patch"_a, "points"_a, "k"_a, "Return the k taxels of a patch nearest to each point, and their distances.");
}

}  // namespace

void read_skin(nb::handle skin, const tactile::Function& function, const mjModel& model, const mjData& data, double* out,
               std::vector<int64_t>& touched) {
  const auto& self = nb::cast<const SharedSkin&>(skin);
  const Borrowed scratch(self);
  read_state(self, function, model, data, scratch, out);
  touched = scratch->touched;
}

void bind_skin(nb::module_& m) {
  bind_class(m);
  m.def(
      "evaluate",
      [](nb::object loads, int quantity) {
        const Memory memory(loads);
        const auto table = memory.records<const Load>();
        require(0 <= quantity && quantity <= static_cast<int>(tactile::Quantity::kSlip), "quantity must exist");
        const auto own = static_cast<tactile::Quantity>(quantity);
        const size_t channels = tactile::channels_of(own);
        std::vector<double> out(table.size() * channels);
        for (size_t k = 0; k < table.size(); ++k) evaluate(table[k], own, out.data() + k * channels);
        return array(std::move(out), channels);
      },
      "loads"_a, "quantity"_a, "Return the values (m, c) of a built-in quantity for loads.");
  m.def("place_in_world", place_in_world<float>, "points"_a, "offsets"_a, "bodies"_a, "positions"_a, "rotations"_a,
        "out"_a.noconvert(), "Write the world positions of points, pad by pad on these bodies, to `out`.");
  m.def("place_in_world", place_in_world<double>, "points"_a, "offsets"_a, "bodies"_a, "positions"_a, "rotations"_a,
        "out"_a.noconvert());
  m.def(
      "effective_radius",
      [](nb::object geoms, int first, int second, const Given<double, nb::shape<3, 3>>& frame,
         const Matrices& rotations) {
        const auto own = records<tactile::SkinGeom>(geoms);
        for (const int64_t geom : {first, second}) {
          require(-1 <= geom && geom < static_cast<int64_t>(own.size()) &&
                      (geom < 0 || (0 <= own[geom].body && own[geom].body < static_cast<int64_t>(rotations.shape(0)))),
                  "geoms and their bodies must exist");
        }
        return tactile::effective_radius(own, first, second,
                                         reinterpret_cast<const Vec3*>(frame.data()),
                                         reinterpret_cast<const Mat3*>(rotations.data()));
      },
      "geoms"_a, "first"_a, "second"_a, "frame"_a, "rotations"_a,
      "Return the effective radius of curvature of two touching geoms (-1: flat) [m]; `frame`: normal and tangents.");
  m.def(
      "contact_quantities",
      [](const Given<double, nb::shape<-1, 12>>& readings, const Vectors& positions, const Numbers& areas,
         const List<int64_t>& offsets) {
        const size_t n = readings.shape(0), pads = offsets.size() - 1;
        require(positions.shape(0) == n && areas.size() == n && delimits(offsets, pads, n),
                "readings, positions, areas and offsets must fit each other");
        std::vector<double> out(18 * pads);
        const auto* taxels = reinterpret_cast<const tactile::TaxelContact*>(readings.data());
        for (size_t p = 0; p < pads; ++p) {
          const int64_t first = offsets.data()[p], count = offsets.data()[p + 1] - first;
          reinterpret_cast<tactile::PadContact*>(out.data())[p] = tactile::pad_contact(
              {taxels + first, static_cast<size_t>(count)}, points(positions) + first, areas.data() + first);
        }
        return array(std::move(out), 18);
      },
      "readings"_a, "positions"_a, "areas"_a, "offsets"_a,
      "Return normal force, center, normal, area, force, torque, utilization and slip (p, 18) of pads.");
  m.def(
      "advance_contact_states",
      [](const Given<double, nb::shape<-1, 4>>& states, double time, const Numbers& normal_force,
         const Given<double, nb::shape<-1, 4>>& thresholds) {
        const size_t n = states.shape(0);
        require(normal_force.size() == n && thresholds.shape(0) == n, "arrays must have one row for each pad");
        std::vector<double> out(4 * n);
        for (size_t p = 0; p < n; ++p) {
          reinterpret_cast<tactile::ContactState*>(out.data())[p] = tactile::advance(
              reinterpret_cast<const tactile::ContactState*>(states.data())[p], time, normal_force.data()[p],
              reinterpret_cast<const tactile::ContactThresholds*>(thresholds.data())[p]);
        }
        return array(std::move(out), 4);
      },
      "states"_a, "time"_a, "normal_force"_a, "thresholds"_a,
      "Return the debounced contact states (p, 4) of pads after a sample: raw, contact, since, pending.");
  m.def("pad_forces", pad_forces<float>, "values"_a, "directions"_a, "starts"_a, "stops"_a,
        "Return the sums (p,) of the products of the rows of values and directions (n or 1, c) over ranges of rows.");
  m.def("pad_forces", pad_forces<double>, "values"_a, "directions"_a, "starts"_a, "stops"_a);
  m.def(
      "move_to_rest",
      [](const Out<double, nb::shape<-1, 32>>& values, const Given<int64_t, nb::shape<-1, 4>>& touching, double sign,
         const Vectors& present, const Vectors& rest, const Given<int64_t, nb::shape<-1, 3>>& triangles,
         const List<int64_t>& begin, const List<int64_t>& near, const Numbers& position,
         const Given<double, nb::shape<3, 3>>& rotation) {
        const size_t vertices = rest.shape(0);
        require(touching.shape(0) == values.shape(0) && present.shape(0) == vertices && position.size() == 3 &&
                    delimits(begin, vertices, near.size()) && within(near, 0, triangles.shape(0)) &&
                    within(triangles, 0, vertices) && within(touching, -1, vertices),
                "contacts and vertices must fit each other");
        const tactile::FlexSurface flex{
            {points(present), present.shape(0)},
            {points(rest), rest.shape(0)},
            {reinterpret_cast<const std::array<int64_t, 3>*>(triangles.data()), triangles.shape(0)},
            begin.data(), near.data(), tactile::vec3(position.data()), *reinterpret_cast<const Mat3*>(rotation.data())};
        tactile::move_to_rest({reinterpret_cast<Contact*>(values.data()), values.shape(0)},
                              reinterpret_cast<const std::array<int64_t, 4>*>(touching.data()), sign, flex);
      },
      "values"_a.noconvert(), "touching"_a, "sign"_a, "present"_a, "rest"_a, "triangles"_a, "begin"_a, "near"_a,
      "position"_a, "rotation"_a, "Move contacts on a flex, in place, to the same points of its rest shape.");
  m.def(
      "force_arrows",
      [](const ContactValues& values, const Vectors& positions, const Matrices& rotations, const List<int64_t>& bodies,
         const Given<double, nb::shape<-1, 6>>& wrenches, double scale, bool tangents, double longest) {
        const auto poses = poses_of(positions, rotations);
        require(wrenches.shape(0) == bodies.size() && within(bodies, 0, positions.shape(0)), "bodies must exist");
        tactile::Arrows arrows{scale, {}, {}, {}};
        arrows.add_contacts({reinterpret_cast<const Contact*>(values.data()), values.shape(0)}, tangents);
        for (size_t k = 0; k < bodies.size(); ++k) {
          const int64_t body = bodies.data()[k];
          const Vec3 force = poses.rotations[body] * tactile::vec3(wrenches.data() + 6 * k);
          arrows.add(poses.positions[body], force, tactile::Arrows::kNet, k);
        }
        arrows.limit(longest);
        auto* owned = new std::vector<Vec3>(std::move(arrows.points));
        nb::ndarray<nb::numpy, double, nb::ndim<3>> points(reinterpret_cast<double*>(owned->data()),
                                                           {owned->size() / 2, 2, 3}, owner_of(owned));
        return std::make_tuple(points, array(std::move(arrows.kinds)), array(std::move(arrows.sources)));
      },
      "values"_a, "positions"_a, "rotations"_a, "bodies"_a, "wrenches"_a, "scale"_a, "tangents"_a, "longest"_a,
      "Return points (n, 2, 3), kinds and sources of arrows for the forces of contacts and of net wrenches on bodies.");
  m.def(
      "centers_of_touch",
      [](const ContactValues& values, const ContactNumbers& ids, const Vectors& positions, const Matrices& rotations,
         const List<int64_t>& bodies) {
        const auto contacts = contacts_of(values, ids);
        const auto poses = poses_of(positions, rotations);
        require(within(bodies, 0, positions.shape(0)), "bodies must exist");
        std::vector<double> forces, centers;
        for (const int64_t body : Range<const int64_t>{bodies.data(), bodies.size()}) {
          const auto center = center_of_touch(contacts, ids_of(ids), static_cast<int>(body), poses);
          forces.push_back(center.force);
          for (const Vec3& v : {center.position, center.normal}) centers.insert(centers.end(), {v.x, v.y, v.z});
        }
        return std::make_tuple(array(std::move(forces)), array(std::move(centers), 6));
      },
      "values"_a, "ids"_a, "positions"_a, "rotations"_a, "bodies"_a,
      "Return the sum of normal forces on each body, and the mean position and outward normal of its contacts.");
}
