// Bindings of the steps of one environment.
#include <nanobind/stl/pair.h>

#include <cmath>
#include <cstring>
#include <stdexcept>
#include <utility>
#include <vector>

#include "arrays.h"
#include "tactile/batch.h"
#include "tactile/chain.h"
#include "tactile/readings.h"

namespace {

// The steps of an mjData. MuJoCo's functions are called through its Python package, which raises MuJoCo's errors.
class Physics {
 public:
  Physics(nb::object model, nb::object data, nb::object integrate, nb::object require_controls)
      : forwarding_(model_at(nb::cast<uintptr_t>(model.attr("_address"))),
                    data_at(nb::cast<uintptr_t>(data.attr("_address")))),
        model_(std::move(model)),
        data_(std::move(data)),
        integrate_(std::move(integrate)),
        require_controls_(std::move(require_controls)) {
    const nb::module_ mujoco = nb::module_::import_("mujoco");
    forward_ = mujoco.attr("mj_forward"), step_ = mujoco.attr("mj_step");
  }

  bool forward() {
    const auto need = forwarding_.begin();
    if (need == tactile::Forwarding::kNothing) return false;
    ++state_;
    if (need == tactile::Forwarding::kValidControls) require_controls_(data_.attr("ctrl"));
    forward_(model_, data_);
    forwarding_.end();
    return true;
  }
  void integrate() {
    ++state_;
    integrate_(model_, data_);
  }
  void step(int64_t n) {
    if (n > 0 && forwarding_.holds()) {
      integrate();
      --n;
    } else if (!forwarding_.controls_valid()) {
      require_controls_(data_.attr("ctrl"));
    }
    if (n <= 0) return;
    ++state_;
    step_(model_, data_, n);
  }
  bool unstable() const { return forwarding_.unstable(); }

  double time() const { return data().time; }
  // Number of calls that have changed the state or its results.
  int64_t state() const { return state_; }
  const mjModel& model() const { return forwarding_.model(); }
  const mjData& data() const { return forwarding_.data(); }

 private:
  tactile::Forwarding forwarding_;
  nb::object model_, data_, integrate_, require_controls_, forward_, step_;
  int64_t state_ = 0;
};

// The steps at which tactile messages are due, computed as in `Schedule`.
class DueSteps {
 public:
  explicit DueSteps(std::vector<double> rates) : rates_(std::move(rates)) {}

  // Whether a stream is due at a step; `following` becomes the next step at which one is.
  bool due(int64_t step, int64_t& following) const {
    bool any = false;
    following = INT64_MAX;
    for (const double rate : rates_) {
      const auto number = [&](int64_t k) { return std::floor(static_cast<double>(k) * rate + kSlack); };
      const double count = number(step);
      any |= count > number(step - 1);
      following = std::min(following, std::max(step + 1, static_cast<int64_t>(std::ceil((count + 1) / rate - kSlack))));
    }
    return any;
  }

 private:
  static constexpr double kSlack = 1e-9;

  std::vector<double> rates_;  // messages per step
};

// Readings (taxels, channels) after a chain, and their validity, which is empty if all are valid.
using Readings = std::pair<Result2<double>, Result1<uint8_t>>;

// Steps of a simulation whose readings and their memory need no Python code.
class Stepper {
 public:
  Stepper(Physics& physics, nb::object skin, const tactile::Function& function, nb::object program,
          nb::object workspace, bool keeps, bool marks, std::vector<double> rates, size_t taxels)
      : physics_(physics),
        skin_(std::move(skin)),
        function_(function),
        program_object_(std::move(program)),
        workspace_object_(std::move(workspace)),
        program_(program_object_.is_none() ? nullptr : &nb::cast<tactile::Program&>(program_object_)),
        workspace_(program_ ? &nb::cast<tactile::Workspace&>(workspace_object_) : nullptr),
        keeps_(keeps),
        marks_(marks),
        schedule_(std::move(rates)),
        channels_(tactile::channels_of(function.quantity)),
        truth_(taxels * channels_),
        output_(taxels * channels_),
        published_(taxels * channels_) {
    require(!program_ || (program_->environments() == 1 && static_cast<size_t>(program_->taxels()) == taxels &&
                          static_cast<size_t>(program_->channels()) == channels_ &&
                          workspace_->taxels == program_->taxels() && workspace_->channels == program_->channels()),
            "the chain must fit the readings");
  }

  // Set the pads whose contact states are stored.
  void set_pads(const Rows<double>& directions, const List<int64_t>& starts, const List<int64_t>& stops,
                const Out<double, nb::shape<-1, 4>>& states, const Rows<double>& thresholds, double timestep) {
    const size_t pads = starts.size(), taxels = truth_.size() / channels_;
    require(directions.shape(1) == channels_ && (directions.shape(0) == taxels || directions.shape(0) == 1) &&
                stops.size() == pads && states.shape(0) == pads && thresholds.shape(0) == pads &&
                thresholds.shape(1) == 4 && within(starts, 0, taxels + 1) && within(stops, 0, taxels + 1),
            "directions, ranges, states and thresholds must fit each other");
    directions_ = directions, starts_ = starts, stops_ = stops, states_ = states, thresholds_ = thresholds;
    pads_ = pads, timestep_ = timestep;
  }

  // Take at most n steps, and return their number, which is less if the physics became unstable at a due step.
  void advance(int64_t n, int64_t step, int64_t since_reset) {
    taken_ = 0;
    while (taken_ < n) {
      const int64_t now = step + taken_;
      if (now < from_ || now >= following_) is_due_ = schedule_.due(now, following_), from_ = now;
      if (is_due_ && now == from_) {
        physics_.forward();
        if (physics_.unstable() || !store(since_reset + taken_)) return;
        physics_.integrate();
        ++taken_;
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
      } else {
        const int64_t steps = std::min(following_ - now, n - taken_);
        physics_.step(steps);
        taken_ += steps;
      }
    }
  }
  int64_t taken() const { return taken_; }

  // Whether readings were stored since the last call.
  bool stored() { return std::exchange(stored_, false); }

  Result2<double> truth() {
    if (program_ || pads_) {  // which need them, too
      read();
      return array_of(truth_);
    }
    std::vector<double> readings(truth_.size());
    read_skin(skin_, function_, physics_.model(), physics_.data(), readings.data(), touched_);
    return array(std::move(readings), channels_);
  }
  // The readings after the chain at a step since the reset, and their validity, which is empty if all are valid.
  Readings output(int64_t step, bool keep) {
    run(step, keep, output_);
    return {array_of(output_), valid(workspace_ ? workspace_->valid : published_valid_)};
  }
  Readings published() const { return {array_of(published_), valid(published_valid_)}; }

 private:
  Result2<double> array_of(const std::vector<double>& values) const {
    return array(std::vector<double>(values), channels_);
  }
  Result1<uint8_t> valid(const std::vector<uint8_t>& flags) const {
    const bool marked = marks_ && std::find(flags.begin(), flags.end(), 0) != flags.end();
    return array(marked ? std::vector<uint8_t>(flags) : std::vector<uint8_t>());
  }
  void read() {
    if (state_ == physics_.state()) return;
    for (const int64_t t : touched_) std::fill_n(truth_.begin() + t * channels_, channels_, 0.0);
    read_skin(skin_, function_, physics_.model(), physics_.data(), truth_.data(), touched_);
    state_ = physics_.state();
  }
  void run(int64_t step, bool keep, std::vector<double>& output) {
    read();
    if (!program_) {  // stored and viewed as float32
      std::transform(truth_.begin(), truth_.end(), output.begin(), [](double value) { return static_cast<float>(value); });
      return;
    }
    const int64_t environment = 0;
    if (keep && keeps_) program_->make_room(&step);
    program_->run(*workspace_, &environment, 1, &step, truth_.data(), output.data(), keep && keeps_,
                  program_->stages(), {});
  }
  // Store the reading at a step since the reset; return false if a later one is stored.
  bool store(int64_t step) {
    if (program_ && step < program_->kept(0)) return false;
    run(step, true, published_);
    if (marks_) published_valid_ = workspace_->valid;
    stored_ = true;
    const size_t taxels = truth_.size() / channels_, stride = pads_ && directions_.shape(0) == taxels ? channels_ : 0;
    for (size_t p = 0; p < pads_; ++p) {
      double force = 0.0;
      for (int64_t t = starts_.data()[p]; t < stops_.data()[p]; ++t) {
        for (size_t c = 0; c < channels_; ++c) {
          force += published_[t * channels_ + c] * directions_.data()[t * stride + c];
        }
      }
      auto& state = reinterpret_cast<tactile::ContactState*>(states_.data())[p];
      state = tactile::advance(state, static_cast<double>(step) * timestep_, force,
                               reinterpret_cast<const tactile::ContactThresholds*>(thresholds_.data())[p]);
    }
    return true;
  }

  Physics& physics_;
  nb::object skin_;
  tactile::Function function_;
  nb::object program_object_, workspace_object_;
  tactile::Program* program_;      // null: the chain changes nothing
  tactile::Workspace* workspace_;
  bool keeps_, marks_;
  DueSteps schedule_;
  size_t channels_, pads_ = 0;
  double timestep_ = 0.0;
  Rows<double> directions_, thresholds_;
  List<int64_t> starts_, stops_;
  Out<double, nb::shape<-1, 4>> states_;
  std::vector<double> truth_, output_, published_;
  std::vector<uint8_t> published_valid_;
  std::vector<int64_t> touched_;
  int64_t state_ = -1, taken_ = 0, from_ = INT64_MAX, following_ = 0;
  bool is_due_ = false, stored_ = false;
};

}  // namespace

void bind_stepping(nb::module_& m) {
  nb::class_<Physics>(m, "Physics", "The steps of an mjData, without repeated calls of mj_forward.")
      .def(nb::init<nb::object, nb::object, nb::object, nb::object>(), "model"_a, "data"_a, "integrate"_a,
           "require_controls"_a)
      .def("forward", &Physics::forward,
           "Compute everything for the current state; return False if nothing has changed since then.")
      .def("integrate", &Physics::integrate, "Advance one time step from the state of the last `forward`.")
      .def("step", &Physics::step, "n"_a, "Advance n time steps.")
      .def_prop_ro("time", &Physics::time, "Time since the last reset [s].")
      .def("unstable", &Physics::unstable, "Return whether MuJoCo found invalid values since the last reset.");

  nb::class_<Stepper>(m, "Stepper", "Steps of a simulation whose readings and their memory need no Python code.")
      .def(
          "__init__",
          [](Stepper* self, Physics& physics, nb::object skin, const tactile::Function& function, nb::object program,
             nb::object workspace, bool keeps, bool marks, const Numbers& rates, size_t taxels) {
            new (self) Stepper(physics, std::move(skin), function, std::move(program), std::move(workspace), keeps,
                               marks, {rates.data(), rates.data() + rates.size()}, taxels);
          },
          nb::keep_alive<1, 2>(), "physics"_a, "skin"_a, "function"_a, "program"_a.none(), "workspace"_a.none(),
          "keeps"_a, "marks"_a, "rates"_a, "taxels"_a)
      .def("set_pads", &Stepper::set_pads, "directions"_a, "starts"_a, "stops"_a, "states"_a.noconvert(),
           "thresholds"_a, "timestep"_a, "Set the pads whose contact states (p, 4) are stored.")
      .def("advance", &Stepper::advance, "n"_a, "step"_a, "since_reset"_a,
           "Take n steps, or fewer if the physics becomes unstable, and store the readings of those that are due.")
      .def_prop_ro("taken", &Stepper::taken, "Number of steps that the last call of `advance` took.")
      .def("stored", &Stepper::stored, "Return whether readings were stored since the last call.")
      .def("truth", &Stepper::truth, "Return the readings (taxels, channels) before the signal chain.")
      .def("output", &Stepper::output, "step"_a, "keep"_a,
           "Return the readings after the chain, and their validity, which is empty if all are valid.")
      .def("published", &Stepper::published, "Return what `advance` has stored last, as `output`.");
}
