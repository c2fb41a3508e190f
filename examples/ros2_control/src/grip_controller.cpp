// A controller of ros2_control that closes a gripper and stops each finger when its pad is in contact.
//
// The service ~/close (std_srvs/SetBool) closes the gripper, or opens it with data: false. Without contact, a
// joint moves with `velocity` toward `closed_position`. A joint whose pad is in contact stops. When all pads are
// in contact, each joint moves in proportion to the force error until its pad measures `force`. With the default
// of 0, the gripper stays where it stopped. A joint whose pad has no valid state (NaN) does not move.

#include <algorithm>
#include <atomic>
#include <cmath>
#include <string>
#include <vector>

#include "controller_interface/controller_interface.hpp"
#include "pluginlib/class_list_macros.hpp"
#include "std_srvs/srv/set_bool.hpp"

namespace tactile_ros2_control
{
using controller_interface::CallbackReturn;
using controller_interface::InterfaceConfiguration;
using controller_interface::interface_configuration_type;
using controller_interface::return_type;
using std_srvs::srv::SetBool;

/// State interfaces of each pad; they precede those of the joints.
const std::vector<std::string> PAD_INTERFACES = {"contact", "force.x", "force.y", "force.z"};

class GripController : public controller_interface::ControllerInterface
{
public:
  CallbackReturn on_init() override
  {
    auto_declare<std::vector<std::string>>("joints", {});
    auto_declare<std::vector<std::string>>("pads", {});  // one for each joint
    auto_declare<double>("velocity", 0.02);              // [m/s or rad/s]; read by ~/close
    auto_declare<double>("force", 0.0);                  // [N]; read by ~/close
    auto_declare<double>("open_position", 0.0);          // [m or rad]
    auto_declare<double>("closed_position", 0.04);       // where a gripper without an object stops
    return CallbackReturn::SUCCESS;
  }

  CallbackReturn on_configure(const rclcpp_lifecycle::State &) override
  {
    joints_ = get_node()->get_parameter("joints").as_string_array();
    pads_ = get_node()->get_parameter("pads").as_string_array();
    if (joints_.empty() || joints_.size() != pads_.size()) {
      RCLCPP_ERROR(
        get_node()->get_logger(), "pads: must have one pad for each of the %zu joints, got %zu",
        joints_.size(), pads_.size());
      return CallbackReturn::ERROR;
    }
    open_ = get_node()->get_parameter("open_position").as_double();
    closed_ = get_node()->get_parameter("closed_position").as_double();
    service_ = get_node()->create_service<SetBool>(
      "~/close", [this](SetBool::Request::ConstSharedPtr request, SetBool::Response::SharedPtr response) {
        force_ = std::max(0.0, get_node()->get_parameter("force").as_double());
        velocity_ = get_node()->get_parameter("velocity").as_double();
        motion_ = request->data ? Motion::CLOSE : Motion::OPEN;
        response->success = true;
      });
    return CallbackReturn::SUCCESS;
  }

  InterfaceConfiguration command_interface_configuration() const override
  {
    return {interface_configuration_type::INDIVIDUAL, position_interfaces()};
  }

  InterfaceConfiguration state_interface_configuration() const override
  {
    std::vector<std::string> names;
    for (const auto & pad : pads_) {
      for (const auto & interface : PAD_INTERFACES) {
        names.push_back(pad + "/" + interface);
      }
    }
    const auto positions = position_interfaces();
    names.insert(names.end(), positions.begin(), positions.end());
    return {interface_configuration_type::INDIVIDUAL, names};
  }

  CallbackReturn on_activate(const rclcpp_lifecycle::State &) override
  {
    motion_ = Motion::HOLD;
    targets_.assign(joints_.size(), NAN);
    return CallbackReturn::SUCCESS;
  }

  return_type update(const rclcpp::Time &, const rclcpp::Duration & period) override
  {
    const auto state = [this](std::size_t k) { return state_interfaces_[k].get_optional().value_or(NAN); };
    const std::size_t first_joint = pads_.size() * PAD_INTERFACES.size();
    bool all = true;
    for (std::size_t p = 0; p < pads_.size(); ++p) {
      all = all && state(p * PAD_INTERFACES.size()) == 1.0;
    }
    bool written = true;
    for (std::size_t j = 0; j < joints_.size(); ++j) {
      if (std::isnan(targets_[j])) {
        targets_[j] = state(first_joint + j);  // until it is known, the command is NaN: none
      }
      const std::size_t pad = j * PAD_INTERFACES.size();
      const double force = std::hypot(state(pad + 1), state(pad + 2), state(pad + 3));
      const double step = std::copysign(velocity_ * period.seconds(), closed_ - open_);
      if (motion_ == Motion::CLOSE) {
        targets_[j] += step * closing(state(pad), force, all);
      } else if (motion_ == Motion::OPEN) {
        targets_[j] -= step;
      }
      targets_[j] = std::clamp(targets_[j], std::min(open_, closed_), std::max(open_, closed_));
      written = command_interfaces_[j].set_value(targets_[j]) && written;
    }
    return written ? return_type::OK : return_type::ERROR;
  }

private:
  enum class Motion { HOLD, CLOSE, OPEN };

  /// Return the speed of a closing joint as a fraction of `velocity`, negative for opening.
  double closing(double contact, double force, bool all) const
  {
    if (std::isnan(contact) || std::isnan(force)) {
      return 0.0;
    }
    if (all) {
      return force_ > 0.0 ? std::max(1.0 - force / force_, -1.0) : 0.0;
    }
    return contact == 1.0 ? 0.0 : 1.0;
  }

  std::vector<std::string> position_interfaces() const
  {
    std::vector<std::string> names;
    for (const auto & joint : joints_) {
      names.push_back(joint + "/position");
    }
    return names;
  }

  std::vector<std::string> joints_;
  std::vector<std::string> pads_;
  std::atomic<double> velocity_ = 0.0;
  double open_ = 0.0;
  double closed_ = 0.0;
  std::atomic<double> force_ = 0.0;
  std::atomic<Motion> motion_ = Motion::HOLD;
  std::vector<double> targets_;
  rclcpp::Service<SetBool>::SharedPtr service_;
};
}  // namespace tactile_ros2_control

PLUGINLIB_EXPORT_CLASS(tactile_ros2_control::GripController, controller_interface::ControllerInterface)
