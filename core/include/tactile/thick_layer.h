// The response function `elastic_layer`: an elastic layer with a thickness, in which deflections and stresses spread.
//
// A pressure deflects the surface also beside it, and below the surface its stress spreads. Both are linear. Their
// Fourier transforms D(k) and S(k) are those of Python's `skin.layer_tables`, which tabulates the kernels on square
// grids: a field is the sum of a local part, in proportion to the pressure, and a smooth part, which forces at the
// nodes of a grid cause.
//
// With the smooth part w of the deflection, the pressures are those of an elastic foundation whose gaps are larger
// by w: p = max(0, plane - gap - w) / c. This fixed point is found with Anderson's acceleration; in each step, the
// pressures have the engine's force and center.
#pragma once

#include <cstdint>
#include <vector>

#include "tactile/layer.h"

namespace tactile {

// A layer on a rigid core.
struct LayerMaterial {
  const double* tables;  // of `skin.layer_tables`
  double modulus;        // plane strain [Pa]
  double thickness;      // [m]
};

constexpr int kLayerLevels = 28, kLayerNodes = 48;
constexpr size_t kLayerTable = size_t{kLayerLevels} * 2 * (1 + kLayerNodes * kLayerNodes);

class ThickLayer {
 public:
  struct PointForces {
    const double *u, *v, *force;  // [m, N]
    size_t count;
  };

  // Change the pressures at the points of a layer that has been pressed as an elastic foundation.
  void press(Layer& layer, const Balance& balance, const LayerMaterial& material);
  // Compute the stress at a depth [m] due to the forces on pressed taxels, with this spacing [m]. Returns the distance
  // from `center` within which there is any [m].
  double press_below(const Pressed& pressed, const LayerMaterial& material, double depth, double spacing,
                     double (&center)[2]);
  // Smooth part of the stress below a point [Pa], and local part, relative to the pressure.
  double stress(double u, double v) const;
  double local_stress() const { return local_; }

 private:
  enum Kind { kDeflection, kStress };

  // Nine nodes and their weights.
  struct Stencil {
    int node;  // the first one
    double u[3], v[3];
  };

  Stencil stencil(double u, double v) const;
  double interpolate(const Stencil& on) const;
  bool place(const PointForces& on, const LayerMaterial& material, Kind kind, double least, double margin, int most);
  void apply(const PointForces& on, std::vector<double>& field);
  void accelerate(size_t step);
  void converge(Layer& layer, const Balance& balance);

  int rows_ = 0, columns_ = 0;
  double u_ = 0.0, v_ = 0.0, spacing_ = 0.0;  // of the grid [m]
  double local_ = 0.0;                        // of a field [m/Pa, 1]
  std::vector<double> kernel_;                // of a field [m/N, 1/m2], with the rows mirrored
  std::vector<double> gap_;                   // of the points, without the deflection [m]
  std::vector<Stencil> stencils_;             // of the points
  std::vector<double> force_, field_, rest_;  // at the nodes: force [N], field, and its change in an iteration
  std::vector<double> field_steps_[3], rest_steps_[3], last_field_, last_rest_;
};

}  // namespace tactile
