// The loops of tactile_sim.trifinger.physics. Python documents the laws; this file checks shapes and types.
#include <mujoco/mujoco.h>

#include <algorithm>
#include <cmath>

#include "arrays.h"

namespace {

template <int rows>
using JointRows = nb::ndarray<const double, nb::numpy, nb::shape<rows, -1>, nb::c_contig, nb::device::cpu>;
using Row = Out<double, nb::ndim<1>>;

double clamp(double value, double most) { return std::min(std::max(value, -most), most); }

void apply_rules(const JointRows<4>& desired, const JointRows<4>& gains,
                 const Numbers& positions, const Numbers& velocities, const Out<double, nb::shape<3, -1>>& applied) {
  const size_t n = desired.shape(1);
  require(gains.shape(1) == n && positions.size() == n && velocities.size() == n && applied.shape(1) == n,
          "arrays must have one column for each joint");
  for (size_t i = 0; i < n; ++i) {
    const double kp = std::isnan(desired(2, i)) ? gains(0, i) : desired(2, i);
    const double kd = std::isnan(desired(3, i)) ? gains(1, i) : desired(3, i);
    const double speed = velocities(i), most = gains(3, i);
    const double control = kp * (desired(1, i) - positions(i)) - kd * speed;
    const double torque = desired(0, i) + (std::isnan(control) ? 0.0 : control);
    applied(0, i) = clamp(clamp(torque, most) - gains(2, i) * speed, most);
    applied(1, i) = kp;
    applied(2, i) = kd;
  }
}

void add_drag(uintptr_t model, uintptr_t data, const Numbers& dampings) {
  const mjModel& m = model_at(model);
  mjData& d = data_at(data);
  require(dampings.size() == static_cast<size_t>(m.nbody), "dampings must have one value for each body");
  for (int body = 1; body < m.nbody; ++body) {
    if (dampings(body) == 0.0) continue;
    const double *move = d.cvel + 6 * body, *spin = move, *center = d.subtree_com + 3 * m.body_rootid[body];
    double arm[3], velocity[3], wrench[6];
    for (int i = 0; i < 3; ++i) arm[i] = d.xipos[3 * body + i] - center[i];
    for (int i = 0; i < 3; ++i) {
      const int j = (i + 1) % 3, k = (i + 2) % 3;
      velocity[i] = move[3 + i] + spin[j] * arm[k] - spin[k] * arm[j];
    }
    const double speed = std::sqrt(velocity[0] * velocity[0] + velocity[1] * velocity[1] + velocity[2] * velocity[2]);
    const double turn = std::sqrt(spin[0] * spin[0] + spin[1] * spin[1] + spin[2] * spin[2]);
    double *torque = wrench, *force = wrench + 3;
    for (int i = 0; i < 3; ++i) force[i] = -dampings(body) * m.body_mass[body] * (1.0 + speed) * velocity[i];
    for (int i = 0; i < 3; ++i) {
      const int j = (i + 1) % 3, k = (i + 2) % 3;
      torque[i] = arm[j] * force[k] - arm[k] * force[j];
    }
    for (int axis = 0; axis < 3; ++axis) {  // the principal axes of inertia are the columns of ximat
      const double* column = d.ximat + 9 * body + axis;
      const double about = column[0] * spin[0] + column[3] * spin[1] + column[6] * spin[2];
      const double size = -dampings(body) * m.body_inertia[3 * body + axis] * (1.0 + turn) * about;
      for (int i = 0; i < 3; ++i) torque[i] += size * column[3 * i];
    }
    const int moved = m.body_weldid[body];
    for (int dof = m.body_dofadr[moved] + m.body_dofnum[moved] - 1; dof >= 0; dof = m.dof_parentid[dof]) {
      for (int i = 0; i < 6; ++i) d.qfrc_passive[dof] += d.cdof[6 * dof + i] * wrench[i];
    }
  }
}

void limit_speed(const Row& positions, const Row& velocities, double time_step, double most) {
  require(positions.size() == velocities.size(), "positions and velocities must have equal lengths");
  for (size_t i = 0; i < velocities.size(); ++i) {
    const double over = velocities(i) - clamp(velocities(i), most);
    velocities(i) -= over;
    positions(i) -= time_step * over;
  }
}

double shift_references(uintptr_t model, uintptr_t data, const Numbers& references, const Numbers& accelerations) {
  mjData& d = data_at(data);
  const size_t rows = d.nefc;
  require(references.size() == rows && accelerations.size() == rows, "arrays must have one value for each constraint");
  double largest = 0.0;
  for (int i = 0; i < d.ncon && model_at(model).opt.cone == mjCONE_ELLIPTIC; ++i) {
    const mjContact& contact = d.contact[i];
    const int normal = contact.efc_address;
    if (normal < 0 || contact.dim < 3) continue;
    double square = 0.0;
    for (int k = 1; k < contact.dim; ++k) {
      const int row = normal + k;
      const double slip = accelerations(row) - references(row) + d.efc_R[row] * d.efc_force[row];
      square += contact.friction[k - 1] * contact.friction[k - 1] * slip * slip;
    }
    const double shifted = references(normal) - std::sqrt(square);
    if (d.efc_force[normal] > 0.0) largest = std::max(largest, std::abs(shifted - d.efc_aref[normal]));
    d.efc_aref[normal] = shifted;
  }
  return largest;
}

}  // namespace

void bind_trifinger(nb::module_& m) {
  m.def("apply_rules", apply_rules, "desired"_a, "gains"_a, "positions"_a, "velocities"_a, "applied"_a.noconvert(),
        "Compute applied torques and gains (3, n); see tactile_sim.trifinger.physics.");
  m.def("add_drag", add_drag, "model"_a, "data"_a, "dampings"_a,
        "Add drag to qfrc_passive, with a damping (nbody,) for each body [1/s]; call this after mj_step1.");
  m.def("limit_speed", limit_speed, "positions"_a.noconvert(), "velocities"_a.noconvert(), "time_step"_a, "most"_a,
        "Limit joint speeds after a semi-implicit step, in place.");
  m.def("shift_references", shift_references, "model"_a, "data"_a, "references"_a, "accelerations"_a,
        "Shift the reference accelerations of contacts; see tactile_sim.trifinger.physics.");
}
