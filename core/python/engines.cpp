// Bindings of contacts, contact sensors and environments.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <optional>
#include <tuple>
#include <vector>

#include "arrays.h"
#include "tactile/batch.h"
#include "tactile/contacts.h"

namespace {

using tactile::Contact;
using tactile::ContactIds;

template <class T, ssize_t... N>
using Array = nb::ndarray<T, nb::numpy, nb::shape<N...>, nb::c_contig, nb::device::cpu>;
template <class T>
using View2 = nb::ndarray<nb::numpy, T, nb::ndim<2>>;

constexpr ssize_t kWidth = sizeof(Contact) / sizeof(double), kIds = sizeof(ContactIds) / sizeof(int32_t);
constexpr ssize_t kSlotWidth = sizeof(tactile::SensorSlot) / sizeof(double);
constexpr ssize_t kReducedWidth = sizeof(tactile::ReducedSlot) / sizeof(double);


template <class Row, class A>
auto* rows(const A& array) {
  return reinterpret_cast<Row*>(array.data());
}

template <class Row, class T>
View2<T> array_of(std::vector<Row>&& values) {
  auto* owned = new std::vector<Row>(std::move(values));
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<Row>*>(p); });
  return View2<T>(reinterpret_cast<T*>(owned->data()), {owned->size(), sizeof(Row) / sizeof(T)}, owner);
}

tactile::SensorColumns columns(const Array<const double, -1, -1>& sensordata, int64_t address, int64_t stride,
                               int64_t slots) {
  const auto width = static_cast<int64_t>(sensordata.shape(1));
  require(0 <= address && address < width && 0 <= stride && stride <= width && 0 <= slots && slots <= width &&
              address + stride * std::max<int64_t>(slots - 1, 0) + 17 <= width,
          "slots must be columns of sensordata");
  return {address, stride, slots};
}

void bind_contacts(nb::module_& m) {
  m.def(
      "read_contacts",
      [](uintptr_t model, uintptr_t data, const Array<double, -1, kWidth>& values,
         const Array<int32_t, -1, kIds>& ids) {
        const auto room = static_cast<size_t>(data_at(data).ncon);
        require(values.shape(0) >= room && ids.shape(0) >= room, "arrays must have a row for each contact");
        return tactile::read_contacts(model_at(model), data_at(data), rows<Contact>(values), rows<ContactIds>(ids));
      },
      "model"_a, "data"_a, "values"_a.noconvert(), "ids"_a.noconvert(),
      "Write the contacts of mjData that carry a force into the arrays of `Contacts`, and return their number.");
  m.def(
      "touching",
      [](const Array<const bool, -1>& sensing, const Array<const double, -1, kWidth>& values,
         const Array<const int32_t, -1, kIds>& ids) {
        const size_t n = ids.shape(0);
        require(values.shape(0) == n, "values and ids must have equal lengths");
        const auto* own = rows<const ContactIds>(ids);
        const int bodies = static_cast<int>(sensing.shape(0)) - 1;
        for (size_t c = 0; c < n; ++c)
          for (const int32_t body : own[c].body) require(-1 <= body && body < bodies, "bodies must exist");
        std::vector<Contact> out(n);
        std::vector<ContactIds> out_ids(n);
        const int64_t found = tactile::touching(sensing.data(), bodies, rows<const Contact>(values), own, n,
                                                out.data(), out_ids.data());
        out.resize(found), out_ids.resize(found);
        return std::make_tuple(array_of<Contact, double>(std::move(out)),
                               array_of<ContactIds, int32_t>(std::move(out_ids)));
      },
      "sensing"_a, "values"_a, "ids"_a, "Return the arrays of the contacts that involve sensing bodies.");
}

void bind_sensors(nb::module_& m) {
  m.def(
      "read_contact_sensor",
      [](const Array<const double, -1, -1>& sensordata, int64_t address, int64_t stride,
         const Array<double, -1, -1, kSlotWidth>& values, const Array<int32_t, -1>& found) {
        const size_t n = sensordata.shape(0);
        require(values.shape(0) == n && found.shape(0) == n, "arrays must have a row for each environment");
        const auto where = columns(sensordata, address, stride, values.shape(1));
        for (size_t env = 0; env < n; ++env) {
          found.data()[env] = tactile::read_sensor(sensordata.data() + env * sensordata.shape(1), where,
                                                   rows<tactile::SensorSlot>(values) + env * where.slots);
        }
      },
      "sensordata"_a.noconvert(), "address"_a, "stride"_a, "values"_a.noconvert(), "found"_a.noconvert(),
      "Write the slots and the numbers of contacts of a contact sensor with all fields into a `ContactSensor`.");
  m.def(
      "contact_sensor_force",
      [](const Array<const double, -1, -1>& sensordata, int64_t address, int64_t stride, int64_t slots,
         const Array<double, -1>& out) {
        require(out.shape(0) == sensordata.shape(0), "arrays must have a row for each environment");
        const auto where = columns(sensordata, address, stride, slots);
        for (size_t env = 0; env < out.shape(0); ++env)
          out.data()[env] = tactile::net_force(sensordata.data() + env * sensordata.shape(1), where);
      },
      "sensordata"_a.noconvert(), "address"_a, "stride"_a, "slots"_a, "out"_a.noconvert(),
      "Write the magnitude of the sum of the forces in all filled slots of a contact sensor [N].");
}

void bind_motrix(nb::module_& m) {
  m.def(
      "read_motrix",
      [](const Array<const float, -1, -1>& raw, const Array<const bool, -1>& flipped) {
        const size_t pairs = raw.shape(0), width = raw.shape(1), slot = sizeof(tactile::MotrixSlot) / sizeof(float);
        require(flipped.shape(0) == pairs && width % slot == 1, "raw must have a row of slots for each pair");
        std::vector<Contact> contacts;
        std::vector<ContactIds> ids;
        for (size_t p = 0; p < pairs; ++p) {
          tactile::read_motrix(raw.data() + p * width, width / slot, flipped.data()[p], contacts);
          ids.resize(contacts.size(), {{-1, -1}, {-1, -1}, static_cast<int32_t>(p)});
        }
        return std::make_tuple(array_of<Contact, double>(std::move(contacts)),
                               array_of<ContactIds, int32_t>(std::move(ids)));
      },
      "raw"_a, "flipped"_a,
      "Return the arrays of the contacts in the values of sensors on pairs of geoms. Position, frame, distance,\n"
      "wrench and index (of the pair) are set.");
  m.def(
      "reduce_contacts",
      [](const Array<const double, -1, kWidth>& values, const Array<const int64_t, -1>& envs,
         const Array<const int64_t, -1>& signs, int reduction, const Array<double, -1, -1, kReducedWidth>& out) {
        const size_t n = values.shape(0);
        require(envs.shape(0) == n && signs.shape(0) == n, "arrays must have a row for each contact");
        require(reduction >= 0 && reduction <= 3 && out.shape(1), "reduction or slots are invalid");
        size_t stop = 0;
        for (size_t env = 0; env < out.shape(0); ++env) {
          const size_t start = stop;
          while (stop < n && envs.data()[stop] == static_cast<int64_t>(env)) ++stop;
          tactile::reduce(rows<const Contact>(values) + start, signs.data() + start, stop - start,
                          static_cast<tactile::Reduction>(reduction),
                          rows<tactile::ReducedSlot>(out) + env * out.shape(1), out.shape(1));
        }
      },
      "values"_a, "envs"_a, "signs"_a, "reduction"_a, "out"_a.noconvert(),
      "Write the slots of a contact sensor in each environment, given contacts ordered by environment.");
  m.def(
      "complete_contacts",
      [](uintptr_t model, const Array<const double, -1, kWidth>& values, const Array<const int32_t, -1, 2>& geoms,
         const Array<const double, -1>& friction, const Array<const int64_t, -1>& envs,
         const Array<const double, -1, -1, 6>& cvel,
         const Array<const double, -1, -1, 3>& subtree_com, const Array<double, -1, -1, kWidth>& out,
         const Array<int32_t, -1, -1, kIds>& out_ids, const Array<int32_t, -1>& counts) {
        const mjModel& own = model_at(model);
        const size_t n = values.shape(0), worlds = counts.shape(0), room = out.shape(1);
        const auto bodies = static_cast<size_t>(own.nbody);
        require(geoms.shape(0) == n && friction.shape(0) == n && envs.shape(0) == n,
                "arrays must have a row for each contact");
        require(cvel.shape(0) == worlds && subtree_com.shape(0) == worlds && out.shape(0) == worlds &&
                    out_ids.shape(0) == worlds && out_ids.shape(1) == room && cvel.shape(1) == bodies &&
                    subtree_com.shape(1) == bodies,
                "arrays must have a row for each environment");
        size_t c = 0;
        for (size_t env = 0; env < worlds; ++env) {
          const tactile::BodyMotion motion{own.geom_bodyid, own.body_rootid, cvel.data() + env * bodies * 6,
                                           subtree_com.data() + env * bodies * 3};
          auto* contacts = rows<Contact>(out) + env * room;
          auto* contact_ids = rows<ContactIds>(out_ids) + env * room;
          const size_t start = c;
          size_t found = 0;
          for (; c < n && envs.data()[c] == static_cast<int64_t>(env); ++c) {
            require(found < room, "arrays must have room for all contacts");
            contacts[found] = rows<const Contact>(values)[c];
            contacts[found].friction = friction.data()[c];
            const int32_t first = geoms(c, 0), second = geoms(c, 1);
            require(first < own.ngeom && second < own.ngeom, "geoms must exist");
            contact_ids[found] = {{-1, -1}, {first, second}, static_cast<int32_t>(c - start)};
            found += tactile::complete(contacts[found], contact_ids[found], motion);
          }
          counts.data()[env] = static_cast<int32_t>(found);
        }
      },
      "model"_a, "values"_a, "geoms"_a, "friction"_a, "envs"_a, "cvel"_a, "subtree_com"_a, "out"_a.noconvert(),
      "out_ids"_a.noconvert(), "counts"_a.noconvert(),
      "Write the contacts that carry a force in each environment, completed from `read_motrix` and their geoms.");
}

void bind_batch(nb::module_& m) {
#ifdef TACTILE_HAS_WORLDS
  using tactile::Worlds;
  using Ids = std::optional<Array<const int32_t, -1>>;
  static const auto ids_of = [](const Worlds& self, const Ids& envs) {
    for (size_t k = 0; envs && k < envs->shape(0); ++k)
      require(0 <= envs->data()[k] && envs->data()[k] < self.count(), "envs must be indices of environments");
    return std::make_pair(envs ? envs->data() : nullptr, envs ? static_cast<int>(envs->shape(0)) : 0);
  };
  nb::class_<Worlds>(m, "Worlds", "Environments of one model, stepped by MuJoCo's threads.")
      .def(
          "__init__",
          [](Worlds* self, uintptr_t model, int count, int threads) {
            new (self) Worlds(model_at(model), count, threads);
          },
          "model"_a, "count"_a, "threads"_a)
      .def_prop_ro("threads", &Worlds::threads)
      .def_prop_ro("persistent", &Worlds::persistent)
      .def_prop_ro(
          "states",
          [](Worlds& self) {
            return View2<double>(self.states(),
                                 {static_cast<size_t>(self.count()), static_cast<size_t>(self.state_size())},
                                 nb::find(self));
          },
          "(n, size) view of the complete state of each environment.")
      .def_prop_ro(
          "warnings",
          [](Worlds& self) {
            return nb::ndarray<nb::numpy, int32_t, nb::shape<-1, mjNWARNING, 2>>(
                reinterpret_cast<int32_t*>(self.warnings()), {static_cast<size_t>(self.count()), mjNWARNING, 2},
                nb::find(self));
          },
          "(n, warnings, 2) view of MuJoCo's warning statistics of each environment.")
      .def("component", &Worlds::component, "bit"_a,
           "Return the first column of a component (mjtState) in `states`, and its size.")
      .def("error", &Worlds::error, "env"_a, "Return the error that MuJoCo raised in the last call, or ''.")
      .def("step", &Worlds::step, "steps"_a, nb::call_guard<nb::gil_scoped_release>(),
           "Step all environments, and return the number of those in which MuJoCo raised an error.")
      .def(
          "reset",
          [](Worlds& self, const Ids& envs, const Array<const int32_t, -1>& keyframes) {
            const auto [ids, count] = ids_of(self, envs);
            require(keyframes.shape(0) == static_cast<size_t>(envs ? count : self.count()),
                    "keyframes must have an entry for each environment");
            nb::gil_scoped_release release;
            return self.reset(ids, count, keyframes.data());
          },
          "envs"_a.none(), "keyframes"_a, "Reset environments to keyframes; -1 is the initial state.")
      .def(
          "record",
          [](Worlds& self, const Ids& envs, int steps, const Array<double, -1, -1, kWidth>& values,
             const Array<int32_t, -1, -1, kIds>& contact_ids, const Array<int32_t, -1>& counts,
             const Array<double, -1, -1, 3>& xpos, const Array<double, -1, -1, 9>& xmat,
             const Array<double, -1, -1>& qfrc_actuator, const Array<double, -1, -1>& sensordata) {
            const auto n = static_cast<size_t>(self.count());
            const mjModel& model = self.model();
            const auto bodies = static_cast<size_t>(model.nbody);
            require(values.shape(0) == n && contact_ids.shape(0) == n && values.shape(1) == contact_ids.shape(1) &&
                        counts.shape(0) == n && xpos.shape(0) == n && xpos.shape(1) == bodies &&
                        xmat.shape(0) == n && xmat.shape(1) == bodies && qfrc_actuator.shape(0) == n &&
                        qfrc_actuator.shape(1) == static_cast<size_t>(model.nv) && sensordata.shape(0) == n &&
                        sensordata.shape(1) == static_cast<size_t>(model.nsensordata),
                    "arrays must fit the environments");
            const auto [ids, count] = ids_of(self, envs);
            const tactile::Recording out{rows<Contact>(values), rows<ContactIds>(contact_ids), counts.data(),
                                         static_cast<int64_t>(values.shape(1)), xpos.data(), xmat.data(),
                                         qfrc_actuator.data(), sensordata.data()};
            nb::gil_scoped_release release;
            return self.record(ids, count, steps, out);
          },
          "envs"_a.none(), "steps"_a, "values"_a.noconvert(), "ids"_a.noconvert(), "counts"_a.noconvert(),
          "xpos"_a.noconvert(), "xmat"_a.noconvert(), "qfrc_actuator"_a.noconvert(), "sensordata"_a.noconvert(),
          "Record contacts, poses, forces and sensors of the current states, then step. Return the number of\n"
          "environments in which MuJoCo raised an error. If the contacts of an environment do not fit, its count is\n"
          "the negative number of contacts, and it does not step.");
#endif
}

}  // namespace

void bind_engines(nb::module_& m) {
  bind_contacts(m);
  bind_sensors(m);
  bind_motrix(m);
  bind_batch(m);
}
