// Bindings of signal chains. Python checks user input; this module checks shapes and types.
#include "tactile/chain.h"

#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>

#include "arrays.h"
#include "tactile/draws.h"

namespace {

template <class T>
using Cube = nb::ndarray<const T, nb::numpy, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
template <class T>
using CubeOut = nb::ndarray<T, nb::numpy, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using Ranges = nb::ndarray<const int64_t, nb::numpy, nb::shape<-1, 3>, nb::c_contig, nb::device::cpu>;

template <class T>
std::vector<T> values(const List<T>& array) {
  return {array.data(), array.data() + array.size()};
}

std::vector<tactile::TaxelRange> ranges(const Ranges& array) {
  std::vector<tactile::TaxelRange> found;
  for (size_t b = 0; b < array.shape(0); ++b) {
    const int64_t* row = array.data() + 3 * b;
    found.push_back({row[0], row[1], row[2]});
  }
  return found;
}

template <class T, class Axes>
auto array_of(std::vector<T>&& numbers, std::initializer_list<size_t> shape, Axes) {
  auto* owned = new std::vector<T>(std::move(numbers));
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::ndarray<nb::numpy, T, Axes>(owned->data(), shape, owner);
}

size_t environment(const tactile::Program& self, int64_t env) {
  require(env >= 0 && env < static_cast<int64_t>(self.environments()), "environment out of range");
  return static_cast<size_t>(env);
}

// Check that the ranges of a stage are within the skin and follow each other in the stage's taxels.
void check_ranges(const std::vector<tactile::TaxelRange>& found, int64_t taxels) {
  int64_t first = 0;
  for (const auto& range : found) {
    require(0 <= range.begin && range.begin <= range.end && range.end <= taxels && range.first == first,
            "ranges must be within the skin");
    first += range.size();
  }
  require(first <= taxels, "ranges must not overlap");
}

template <class In, class Out>
void run(tactile::Program& self, tactile::Workspace& w, const List<int64_t>& environments, const List<int64_t>& steps,
         const Cube<In>& truth, const CubeOut<Out>& output, bool keep, size_t count, const tactile::OwnStages& own) {
  const size_t n = self.environments(), taxels = self.taxels(), channels = self.channels();
  const auto fits = [&](const auto& array) {
    return array.shape(0) == n && array.shape(1) == taxels && array.shape(2) == channels;
  };
  require(steps.size() == n && fits(truth) && (output.shape(0) == 0 || fits(output)),
          "steps, truth and output must have one row for each environment");
  require(w.channels == self.channels() && w.taxels == self.taxels() && count <= self.stages(),
          "the workspace must fit the program");
  for (size_t k = 0; k < environments.size(); ++k) environment(self, environments.data()[k]);
  nb::gil_scoped_release release;
  self.run(w, environments.data(), environments.size(), steps.data(), truth.data(),
           output.shape(0) ? output.data() : nullptr, keep, count, own);
}

// Calls `own` for a stage that the library does not know; the lock must have been released.
tactile::OwnStages own_stages(const nb::object& own) {
  return [&own](size_t stage, int64_t env, const tactile::Now& now) {
    nb::gil_scoped_acquire acquire;
    own(stage, env, now.step, now.interval, now.first, now.again, now.keep, now.key);
  };
}

template <class T>
void bind_reduce(nb::module_& m) {
  m.def(
      "reduce_pads",
      [](int64_t first, int64_t last, const Cube<T>& readings, const std::optional<Rows<int32_t>>& touched,
         const std::optional<List<int32_t>>& counts, const List<int64_t>& slots, const Rows<double>& positions,
         int reduction, const CubeOut<double>& out) {
        const size_t n = readings.shape(0), taxels = readings.shape(1), channels = readings.shape(2);
        const int64_t pads = out.shape(1), width = out.shape(2);
        const size_t least[] = {channels, 1, 4};
        require(0 <= first && last <= static_cast<int64_t>(n) && out.shape(0) == n && slots.size() == taxels &&
                    positions.shape(0) == taxels && positions.shape(1) == 3 && 0 <= reduction && reduction < 3 &&
                    out.shape(2) >= least[reduction] && (!touched || (counts && touched->shape(0) == n &&
                    touched->shape(1) == taxels && counts->size() == n && within(*counts, 0, taxels + 1))),
                "arrays must fit the readings");
        require(within(slots, -1, pads), "slots must be rows of the output");
        for (int64_t env = first; touched && env < last; ++env) {
          const int32_t* own = touched->data() + env * taxels;
          require(within(tactile::Range<const int32_t>{own, static_cast<size_t>(counts->data()[env])}, 0, taxels),
                  "touched must be taxels");
        }
        nb::gil_scoped_release release;
        for (int64_t env = first; env < last; ++env) {
          tactile::reduce_pads(readings.data() + env * taxels * channels, channels,
                          touched ? touched->data() + env * taxels : nullptr,
                          touched ? counts->data()[env] : static_cast<int64_t>(taxels), slots.data(),
                          positions.data(), static_cast<tactile::PadReduction>(reduction), width,
                          out.data() + env * pads * width);
        }
      },
      "first"_a, "last"_a, "readings"_a.noconvert(), "touched"_a.none(), "counts"_a.none(), "slots"_a, "positions"_a,
      "reduction"_a, "out"_a.noconvert(),
      "Reduce the readings of environments [first, last) by pad: sums, largest magnitude, or weighted positions.");
}

constexpr const char* kRunDoc =
    "Compute the readings of some environments with the first `count` stages. `own(stage, env, step, interval, "
    "first, again, keep, key)` computes stages that the library does not know.";

template <class In, class Out>
void bind_run(nb::class_<tactile::Program>& program) {
  program.def(
      "run",
      [](tactile::Program& self, tactile::Workspace& w, const List<int64_t>& environments, const List<int64_t>& steps,
         const Cube<In>& truth, const CubeOut<Out>& output, bool keep, size_t count, nb::object own) {
        run(self, w, environments, steps, truth, output, keep, count, own_stages(own));
      },
      "workspace"_a, "environments"_a, "steps"_a, "truth"_a.noconvert(), "output"_a.noconvert(), "keep"_a, "count"_a,
      "own"_a.none(), kRunDoc);
}

}  // namespace

void bind_chain(nb::module_& m) {
  m.def(
      "chain_keys",
      [](uint64_t seed, const List<uint64_t>& names, uint64_t kind, const List<uint64_t>& episodes) {
        require(names.size() == episodes.size(), "names and episodes must have equal lengths");
        std::vector<uint64_t> keys;
        for (size_t b = 0; b < names.size(); ++b) {
          const uint64_t own = tactile::stream(tactile::stream(seed, names.data()[b]), kind);
          keys.push_back(tactile::stream(own, episodes.data()[b]));
        }
        const size_t size = keys.size();
        return array_of(std::move(keys), {size}, nb::ndim<1>());
      },
      "seed"_a, "names"_a, "kind"_a, "episodes"_a,
      "Return the keys (b,) of random numbers of pads, from hashes of their names and the numbers of redraws.");
  m.def(
      "draw_uniform",
      [](const List<uint64_t>& keys, size_t columns) {
        std::vector<double> out;
        for (size_t b = 0; b < keys.size(); ++b) {
          for (size_t p = 0; p < columns; ++p) out.push_back(tactile::upper(tactile::entry(keys.data()[b], p)));
        }
        return array_of(std::move(out), {keys.size(), columns}, nb::ndim<2>());
      },
      "keys"_a, "columns"_a, "Return uniform random numbers (b, columns) in (0, 1).");
  m.def(
      "draw_normal",
      [](const List<float>& table, const List<uint64_t>& keys, const List<int64_t>& sizes, size_t columns) {
        require(keys.size() == sizes.size() && within(sizes, 0, INT32_MAX) &&
                    table.size() == tactile::kNormalPeriod + tactile::kNormalBlock,
                "keys and sizes must have equal lengths");
        size_t taxels = 0;
        for (size_t b = 0; b < keys.size(); ++b) taxels += sizes.data()[b];
        std::vector<int16_t> out(columns * taxels);
        for (size_t b = 0, begin = 0; b < keys.size(); begin += sizes.data()[b++]) {
          for (size_t c = 0; c < columns; ++c) {
            tactile::draw_normal(table.data(), keys.data()[b], c, out.data() + c * taxels + begin, sizes.data()[b]);
          }
        }
        return array_of(std::move(out), {columns, taxels}, nb::ndim<2>());
      },
      "table"_a, "keys"_a, "sizes"_a, "columns"_a,
      "Return standard normal numbers (columns, taxels of all pads) as multiples of 1/4096.");

  m.def(
      "respond",
      [](const Rows<double>& loads, const List<double>& intervals, double friction, double creep, double creep_time,
         double remains, double decay_time) {
        const size_t samples = loads.shape(0), taxels = loads.shape(1);
        require(intervals.size() == samples, "must have one interval for each sample");
        std::vector<double> out(samples * taxels);
        tactile::respond(loads.data(), intervals.data(), samples, taxels,
                         {friction, creep, creep_time, remains, decay_time}, out.data());
        return array_of(std::move(out), {samples, taxels}, nb::ndim<2>());
      },
      "loads"_a, "intervals"_a, "friction"_a, "creep"_a, "creep_time"_a, "remains"_a, "decay_time"_a,
      "Return the output (n, m) of hysteresis, viscoelasticity and slow adaptation for loads (n, m).");
  bind_reduce<double>(m);
  bind_reduce<float>(m);

  nb::class_<tactile::Workspace>(m, "ChainWorkspace", "Arrays in which one thread runs a ChainProgram.")
      .def(
          "__init__",
          [](tactile::Workspace* self, const Rows<float>& axes, int64_t channels) {
            require(axes.shape(0) == 3 && channels >= 0, "axes must have 3 rows");
            new (self) tactile::Workspace({axes.data(), axes.data() + axes.size()}, channels);
          },
          "axes"_a, "channels"_a)
      .def("copy", [](const tactile::Workspace& self) { return tactile::Workspace(self); })
      .def_prop_ro(
          "values",
          [](nb::handle self) {
            auto& w = nb::cast<tactile::Workspace&>(self);
            return nb::ndarray<nb::numpy, float, nb::ndim<2>>(
                w.values.data(), {static_cast<size_t>(w.channels), static_cast<size_t>(w.taxels)}, self);
          },
          "(channels, taxels) readings of the last environment.")
      .def_prop_ro(
          "valid",
          [](nb::handle self) {
            auto& w = nb::cast<tactile::Workspace&>(self);
            return nb::ndarray<nb::numpy, uint8_t, nb::ndim<1>>(w.valid.data(), {w.valid.size()}, self);
          },
          "(taxels,) 1 where the last reading is valid.");

  nb::class_<tactile::Stage>(m, "ChainStage", "A stage of a ChainProgram, on all pads that have it.")
      .def(
          "__init__",
          [](tactile::Stage* self, std::string key, uint64_t hash, const Ranges& pads, const Ranges& runs,
             const List<int32_t>& integers, bool linked, bool recalled, bool rests, double code_step,
             int32_t least_code, int64_t room, bool varies, const Rows<double>& parameters,
             const List<float>& constants, const List<int16_t>& deviations) {
            require(parameters.shape(0) == runs.shape(0) && room >= 0, "parameters must have one row for each run");
            new (self) tactile::Stage;
            self->key = std::move(key), self->hash = hash, self->pads = ranges(pads), self->runs = ranges(runs);
            self->bypassed.resize(self->pads.size());
            self->integers = values(integers), self->linked = linked, self->recalled = recalled, self->rests = rests;
            self->codes = {code_step, least_code}, self->room = room, self->varies = varies;
            self->columns = static_cast<int64_t>(parameters.shape(1));
            self->parameters = {parameters.data(), parameters.data() + parameters.size()};
            self->constants = values(constants), self->deviations = values(deviations);
          },
          nb::kw_only(), "key"_a, "hash"_a, "pads"_a, "runs"_a, "integers"_a, "linked"_a, "recalled"_a, "rests"_a,
          "code_step"_a, "least_code"_a, "room"_a, "varies"_a, "parameters"_a, "constants"_a, "deviations"_a);

  nb::class_<tactile::Program> program(m, "ChainProgram", "Signal chains of n environments with the same stages.");
  program
      .def(
          "__init__",
          [](tactile::Program* self, double timestep, int64_t channels, const List<uint64_t>& seeds,
             const List<bool>& staged, const List<float>& normals) {
            require(seeds.size() > 0 && channels >= 0 && timestep > 0, "must have environments, channels and time step");
            new (self) tactile::Program(timestep, channels, values(seeds),
                                        {staged.data(), staged.data() + staged.size()}, values(normals));
          },
          "timestep"_a, "channels"_a, "seeds"_a, "staged"_a, "normals"_a)
      .def("copy", [](const tactile::Program& self) { return tactile::Program(self); })
      .def(
          "add",
          [](tactile::Program& self, const tactile::Stage& stage) {
            check_ranges(stage.pads, self.taxels()), check_ranges(stage.runs, self.taxels());
            self.add(stage);
          },
          "stage"_a, "Append a stage, with the numbers of one environment.")
      .def(
          "set_numbers",
          [](tactile::Program& self, size_t s, int64_t env, const Rows<double>& parameters,
             const List<float>& constants, const List<int16_t>& deviations) {
            const size_t n = self.environments();
            require(s < self.stages() && self.stage(s).varies, "the stage must vary between environments");
            const tactile::Stage& stage = self.stage(s);
            require(parameters.size() * n == stage.parameters.size() && constants.size() * n == stage.constants.size() &&
                        deviations.size() * n == stage.deviations.size(),
                    "numbers must have the same sizes as before");
            self.set_numbers(s, environment(self, env), parameters.data(), constants.data(), deviations.data());
          },
          "stage"_a, "environment"_a, "parameters"_a, "constants"_a, "deviations"_a,
          "Replace the numbers of a stage in one environment.")
      .def(
          "set_bypassed",
          [](tactile::Program& self, size_t s, const List<uint8_t>& bypassed) {
            require(s < self.stages() && bypassed.size() == self.stage(s).pads.size(), "must have one flag per pad");
            self.set_bypassed(s, values(bypassed));
          },
          "stage"_a, "bypassed"_a, "Set for each pad whether the stage does not change its readings.")
      .def(
          "restart",
          [](tactile::Program& self, int64_t env, uint64_t seed) { self.restart(environment(self, env), seed); },
          "environment"_a, "seed"_a, "Reset the memory of an environment, except that of the tare.")
      .def(
          "make_room",
          [](tactile::Program& self, const List<int64_t>& steps) {
            require(steps.size() == self.environments(), "must have one step for each environment");
            self.make_room(steps.data());
          },
          "steps"_a, "Ensure that delays can store another reading of these steps (n,), before `run` stores it.")
      .def(
          "read",
          [](tactile::Program& self, tactile::Workspace& w, int64_t step, const Rows<double>& truth, bool keep,
             size_t count, const nb::object& own) {
            const size_t taxels = self.taxels(), channels = self.channels();
            require(self.environments() == 1 && truth.shape(0) == taxels && truth.shape(1) == channels &&
                        w.channels == self.channels() && w.taxels == self.taxels() && count <= self.stages(),
                    "the readings and the workspace must fit the program of one environment");
            std::vector<double> output(taxels * channels);
            {
              const nb::gil_scoped_release release;
              const int64_t environment = 0;
              if (keep) self.make_room(&step);
              self.run(w, &environment, 1, &step, truth.data(), output.data(), keep, count, own_stages(own));
            }
            return array_of(std::move(output), {taxels, channels}, nb::ndim<2>());
          },
          "workspace"_a, "step"_a, "truth"_a, "keep"_a, "count"_a, "own"_a.none(),
          "Return the readings (taxels, channels) of the only environment, as `make_room` and `run` compute them.")
      .def(
          "tare",
          [](tactile::Program& self, int64_t env, const std::optional<Rows<double>>& zero) {
            require(!zero || (zero->shape(0) == static_cast<size_t>(self.taxels()) &&
                              zero->shape(1) == static_cast<size_t>(self.channels())),
                    "zero must have the shape (taxels, channels)");
            self.tare(environment(self, env), zero ? zero->data() : nullptr);
          },
          "environment"_a, "zero"_a.none(), "Subtract readings (taxels, channels) from all later ones, or nothing.")
      .def("tared", [](const tactile::Program& self, int64_t env) { return self.tared(environment(self, env)); },
           "environment"_a)
      .def(
          "zero",
          [](const tactile::Program& self, int64_t env) {
            const size_t taxels = self.taxels(), channels = self.channels();
            std::vector<double> zero(taxels * channels);
            self.zero(environment(self, env), zero.data());
            return array_of(std::move(zero), {taxels, channels}, nb::ndim<2>());
          },
          "environment"_a, "Return the readings (taxels, channels) that the tare subtracts.")
      .def(
          "history",
          [](const tactile::Program& self, int64_t env) {
            std::vector<float> outputs = self.history(environment(self, env));
            const size_t size = outputs.size();
            return array_of(std::move(outputs), {size}, nb::ndim<1>());
          },
          "environment"_a, "Return the outputs (samples * channels * taxels,) stored by `history`, oldest first.")
      .def("kept", [](const tactile::Program& self, int64_t env) { return self.kept(environment(self, env)); },
           "environment"_a, "Return the step of the last stored reading, or -1.")
      .def_prop_ro("waits_for_tare", &tactile::Program::waits_for_tare,
                   "Whether an automatic tare is still pending in some environment.")
      .def_prop_ro("memory_bytes", &tactile::Program::memory_bytes,
                   "Memory of each environment, for each stage [bytes].");
  bind_run<double, double>(program);
  bind_run<float, double>(program);
  bind_run<double, float>(program);
  bind_run<float, float>(program);
}
