#include "tactile/thick_layer.h"

#include <algorithm>
#include <cmath>

#include "tactile/lanes.h"

namespace tactile {

namespace {

constexpr int kHistory = 3;             // iterations that Anderson's acceleration combines
constexpr int kMostIterations = 30;
constexpr int kMostGrids = 4;           // a grid that is too coarse or too small for the pressed points is replaced
constexpr double kTolerance = 0.02;     // of the deflection, relative to the local part under the mean pressure
constexpr int kAcross = 8;              // cells along the pressed points, at most
constexpr double kFinest = 1.0 / 64.0;  // grid spacing / thickness
// Spacing of the grid for stresses / depth, and distances beyond which a stress is neglected: depths or thicknesses.
constexpr double kPerTaxel = 0.7;       // nodes per taxel: the stress has no waves as short as the taxels' distances
constexpr double kBelow = 0.2, kReachDepths = 5.0, kReachThicknesses = 4.0;

ThickLayer::PointForces forces_on(const Layer& layer) {
  return {layer.points.u.data(), layer.points.v.data(), layer.loaded().data(), layer.points.count};
}

}  // namespace

// Place a grid over the loaded points, plus a margin [m], with a spacing of at least `least` [m] and at most `most`
// cells along each side. Returns whether it differs from the present one.
bool ThickLayer::place(const PointForces& on, const LayerMaterial& material, Kind kind, double least, double margin,
                       int most) {
  double low_u = kInfinity, low_v = kInfinity, high_u = -kInfinity, high_v = -kInfinity;
  for (size_t k = 0; k < on.count; ++k) {
    if (!(on.force[k] > 0.0)) continue;
    low_u = std::min(low_u, on.u[k]), high_u = std::max(high_u, on.u[k]);
    low_v = std::min(low_v, on.v[k]), high_v = std::max(high_v, on.v[k]);
  }
  if (!(high_u - low_u < kInfinity && high_v - low_v < kInfinity)) return false;
  const double needed = std::max(least, (std::max(high_u - low_u, high_v - low_v) + 2.0 * margin) / most);
  // Below the finest level, the layer is a half space: its thickness does not matter.
  const double thickness = std::min(material.thickness, needed / kFinest);
  const int level = static_cast<int>(std::ceil(2.0 * std::log2(needed / thickness / kFinest) - 1e-9));
  const double* table = material.tables + (2 * std::min(std::max(level, 0), kLayerLevels - 1) + kind) *
                                              (1 + kLayerNodes * kLayerNodes);
  const double spacing = kFinest * thickness * std::pow(2.0, 0.5 * level);
  const bool inside = rows_ > 0 && u_ + 0.5 * spacing_ <= low_u && v_ + 0.5 * spacing_ <= low_v &&
                      high_u <= u_ + (rows_ - 1.5) * spacing_ && high_v <= v_ + (columns_ - 1.5) * spacing_;
  if (inside && spacing > 0.99 * spacing_) return false;
  const auto nodes = [&](double low, double high) {
    return std::min(static_cast<int>((high - low + 2.0 * margin) / spacing) + 3, kLayerNodes);
  };
  spacing_ = spacing, rows_ = nodes(low_u, high_u);
  columns_ = (nodes(low_v, high_v) + kLanes - 1) / kLanes * kLanes;
  u_ = 0.5 * (low_u + high_u - (rows_ - 1) * spacing), v_ = 0.5 * (low_v + high_v - (columns_ - 1) * spacing);
  const double unit = kind == kDeflection ? thickness / material.modulus : 1.0;
  local_ = unit * table[0];
  const int width = 2 * columns_ - 1;
  kernel_.resize(rows_ * width);
  for (int i = 0; i < rows_; ++i) {
    for (int j = 0; j < width; ++j) {
      const double value = table[1 + i * kLayerNodes + std::abs(j - columns_ + 1)];
      kernel_[i * width + j] = level < kLayerLevels ? unit / (spacing * spacing) * value : 0.0;
    }
  }
  stencils_.resize(on.count);
  for (size_t k = 0; k < on.count; ++k) stencils_[k] = stencil(on.u[k], on.v[k]);
  return true;
}

// The nodes around a point, and the values there of quadratic B-splines.
ThickLayer::Stencil ThickLayer::stencil(double u, double v) const {
  u = std::min(std::max((u - u_) / spacing_, 0.5), rows_ - 1.5);
  v = std::min(std::max((v - v_) / spacing_, 0.5), columns_ - 1.5);
  const int i = std::min(static_cast<int>(u + 0.5), rows_ - 2), j = std::min(static_cast<int>(v + 0.5), columns_ - 2);
  const double a = u - i, b = v - j;
  return {(i - 1) * columns_ + j - 1,
          {0.5 * (0.5 - a) * (0.5 - a), 0.75 - a * a, 0.5 * (0.5 + a) * (0.5 + a)},
          {0.5 * (0.5 - b) * (0.5 - b), 0.75 - b * b, 0.5 * (0.5 + b) * (0.5 + b)}};
}

double ThickLayer::interpolate(const Stencil& on) const {
  double sum = 0.0;
  for (int i = 0; i < 3; ++i) {
    const double* at = &field_[on.node + i * columns_];
    sum += on.u[i] * (on.v[0] * at[0] + on.v[1] * at[1] + on.v[2] * at[2]);
  }
  return sum;
}

// Compute the smooth part of a field at the nodes from the forces on the points.
TACTILE_WIDE void ThickLayer::apply(const PointForces& on, std::vector<double>& field) {
  force_.assign(rows_ * columns_, 0.0), field.assign(rows_ * columns_, 0.0);
  for (size_t k = 0; k < on.count; ++k) {
    const double force = on.force[k];
    if (!(force > 0.0)) continue;
    const Stencil& own = stencils_[k];
    for (int i = 0; i < 3; ++i) {
      double* at = &force_[own.node + i * columns_];
      for (int j = 0; j < 3; ++j) at[j] += own.u[i] * own.v[j] * force;
    }
  }
  const int width = 2 * columns_ - 1;
  for (int i = 0; i < rows_; ++i) {
    for (int j = 0; j < columns_; ++j) {
      const double force = force_[i * columns_ + j];
      if (force == 0.0) continue;
      for (int row = 0; row < rows_; ++row) {
        const double* from = &kernel_[std::abs(row - i) * width + columns_ - 1 - j];
        double* to = &field[row * columns_];
        for (int column = 0; column < columns_; column += kLanes) {
          Lanes sum, part;
          load(sum, to + column), load(part, from + column);
          sum += force * part;
          store(to + column, sum);
        }
      }
    }
  }
}

// Add a multiple of `rest_` to `field_`, after removing the part of it that the last steps predict.
void ThickLayer::accelerate(size_t step) {
  const size_t size = field_.size();
  const auto inner = [&](const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0.0;
    for (size_t n = 0; n < size; ++n) sum += a[n] * b[n];
    return sum;
  };
  if (step > 0) {
    auto &fields = field_steps_[(step - 1) % kHistory], &rests = rest_steps_[(step - 1) % kHistory];
    fields.resize(size), rests.resize(size);
    for (size_t n = 0; n < size; ++n) fields[n] = field_[n] - last_field_[n], rests[n] = rest_[n] - last_rest_[n];
  }
  last_field_ = field_, last_rest_ = rest_;
  // Solve the normal equations of least squares.
  const int known = static_cast<int>(std::min<size_t>(step, kHistory));
  double matrix[kHistory][kHistory + 1] = {};
  for (int i = 0; i < known; ++i) {
    for (int j = 0; j <= i; ++j) matrix[i][j] = matrix[j][i] = inner(rest_steps_[i], rest_steps_[j]);
    matrix[i][known] = inner(rest_steps_[i], rest_);
  }
  for (int i = 0; i < known; ++i) matrix[i][i] *= 1.0 + 1e-9;
  for (int i = 0; i < known; ++i) {
    for (int j = 0; j < known; ++j) {
      const double factor = j != i && matrix[i][i] > 0.0 ? matrix[j][i] / matrix[i][i] : 0.0;
      for (int n = i; n <= known; ++n) matrix[j][n] -= factor * matrix[i][n];
    }
  }
  // The largest deflection is about that under equal forces on all nodes: without a history, it limits the step.
  double sum = 0.0;
  for (const double value : kernel_) sum += std::abs(value);
  const double part = 1.0 / (1.0 + sum * spacing_ * spacing_ / local_);
  for (size_t n = 0; n < size; ++n) field_[n] += part * rest_[n];
  for (int i = 0; i < known; ++i) {
    const double factor = matrix[i][i] > 0.0 ? matrix[i][known] / matrix[i][i] : 0.0;
    for (size_t n = 0; n < size; ++n) field_[n] -= factor * (field_steps_[i][n] + part * rest_steps_[i][n]);
  }
}

void ThickLayer::converge(Layer& layer, const Balance& balance) {
  LayerPoints& points = layer.points;
  apply(forces_on(layer), field_);
  for (size_t step = 0; step < kMostIterations; ++step) {
    for (size_t k = 0; k < points.count; ++k) points.gap[k] = gap_[k] + interpolate(stencils_[k]);
    layer.press_again(balance);
    apply(forces_on(layer), rest_);
    double area = 0.0, most = 0.0;
    for (size_t k = 0; k < points.count; ++k) area += layer.loaded()[k] > 0.0 ? points.area[k] : 0.0;
    for (size_t n = 0; n < rest_.size(); ++n) {
      rest_[n] -= field_[n];
      most = std::max(most, std::abs(rest_[n]));
    }
    if (!(most * area > kTolerance * local_ * balance.force.z)) break;
    accelerate(step);
  }
}

void ThickLayer::press(Layer& layer, const Balance& foundation, const LayerMaterial& material) {
  LayerPoints& points = layer.points;
  double area = 0.0;
  size_t count = 0;
  for (size_t k = 0; k < points.count; ++k) {
    if (layer.loaded()[k] > 0.0) area += points.area[k], ++count;
  }
  if (layer.pressed.count < 2) return;
  gap_.assign(points.gap.begin(), points.gap.begin() + points.count);
  rows_ = 0;
  for (int grid = 0; grid < kMostGrids; ++grid) {
    if (!place(forces_on(layer), material, kDeflection, std::sqrt(area / count), 0.0, kAcross)) break;
    Balance balance = foundation;
    balance.stiffness = 1.0 / local_;
    converge(layer, balance);
  }
}

double ThickLayer::press_below(const Pressed& pressed, const LayerMaterial& material, double depth, double spacing,
                               double (&center)[2]) {
  const PointForces on{pressed.u.data(), pressed.v.data(), pressed.force.data(), pressed.count};
  const double reach = std::min(kReachDepths * depth, kReachThicknesses * material.thickness);
  rows_ = 0;
  place(on, material, kStress, std::max(kBelow * depth, kPerTaxel * spacing), reach, kLayerNodes - 3);
  apply(on, field_);
  center[0] = u_ + 0.5 * (rows_ - 1) * spacing_, center[1] = v_ + 0.5 * (columns_ - 1) * spacing_;
  return 0.5 * spacing_ * std::hypot(rows_ - 1, columns_ - 1);
}

double ThickLayer::stress(double u, double v) const {
  const double i = (u - u_) / spacing_, j = (v - v_) / spacing_;
  if (!(0.5 <= i && i <= rows_ - 1.5 && 0.5 <= j && j <= columns_ - 1.5)) return 0.0;
  return interpolate(stencil(u, v));
}

}  // namespace tactile
