// Exposes pads as state interfaces of ros2_control; the data comes from the topics tactile/<pad>/state.
//
// Each <sensor> of the <ros2_control> block is a pad. Its state interfaces are fields of
// tactile_sim/msg/TactileState, with .x, .y and .z for vectors; booleans are 0 or 1. They are NaN without a
// recent message. Parameters of the hardware:
//   timeout  age [s of wall time] at which a state becomes NaN, 0.5 by default
//   wait     maximum time [s of wall time] to wait in each cycle for its state, which is NaN if it does not arrive;
//            0, the default, uses the latest state. Requires use_sim_time.
// Parameter of a sensor: topic, tactile/<pad>/state by default.

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "hardware_interface/sensor_interface.hpp"
#include "hardware_interface/types/hardware_interface_return_values.hpp"
#include "pluginlib/class_list_macros.hpp"
#include "rclcpp/rclcpp.hpp"
#include "tactile_sim/msg/tactile_state.hpp"

namespace tactile_ros2_control
{
using hardware_interface::CallbackReturn;
using hardware_interface::return_type;
using tactile_sim::msg::TactileState;
using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr double NaN = std::numeric_limits<double>::quiet_NaN();

/// Fields of TactileState in the order of values_of().
const std::array<std::string, 21> FIELDS = {
  "contact", "contact_raw", "contact_time", "air_time", "area", "friction_utilization",
  "center_of_pressure.x", "center_of_pressure.y", "center_of_pressure.z",
  "normal.x", "normal.y", "normal.z", "force.x", "force.y", "force.z",
  "torque.x", "torque.y", "torque.z", "slip_velocity.x", "slip_velocity.y", "slip_velocity.z"};

std::array<double, FIELDS.size()> values_of(const TactileState & state)
{
  const auto & [center, normal, force, torque, slip] = std::tie(
    state.center_of_pressure, state.normal, state.force, state.torque, state.slip_velocity);
  return {
    state.contact ? 1.0 : 0.0, state.contact_raw ? 1.0 : 0.0, state.contact_time, state.air_time, state.area,
    state.friction_utilization, center.x, center.y, center.z, normal.x, normal.y, normal.z,
    force.x, force.y, force.z, torque.x, torque.y, torque.z, slip.x, slip.y, slip.z};
}

class TactileSensor : public hardware_interface::SensorInterface
{
public:
  CallbackReturn on_init(const hardware_interface::HardwareComponentInterfaceParams & params) override
  {
    if (SensorInterface::on_init(params) != CallbackReturn::SUCCESS) {
      return CallbackReturn::ERROR;
    }
    wait_ = Seconds(parameter("wait", 0.0));
    timeout_ = Seconds(parameter("timeout", 0.5));
    pads_ = std::vector<Pad>(get_hardware_info().sensors.size());
    for (std::size_t p = 0; p < pads_.size(); ++p) {
      const auto & sensor = get_hardware_info().sensors[p];
      for (const auto & interface : sensor.state_interfaces) {
        const auto field = std::find(FIELDS.begin(), FIELDS.end(), interface.name);
        if (field == FIELDS.end()) {
          RCLCPP_ERROR(
            get_logger(), "%s: no field '%s' in tactile_sim/msg/TactileState", sensor.name.c_str(),
            interface.name.c_str());
          return CallbackReturn::ERROR;
        }
        pads_[p].interfaces.emplace_back(sensor.name + "/" + interface.name, field - FIELDS.begin());
      }
      const auto topic = sensor.parameters.find("topic");
      pads_[p].subscription = get_node()->create_subscription<TactileState>(
        topic == sensor.parameters.end() ? "tactile/" + sensor.name + "/state" : topic->second, 10,
        [this, p](TactileState::ConstSharedPtr state) { receive(pads_[p], *state); });
    }
    return CallbackReturn::SUCCESS;
  }

  return_type read(const rclcpp::Time & time, const rclcpp::Duration &) override
  {
    std::unique_lock lock(mutex_);
    const auto clock = get_clock();  // a steady one without use_sim_time, which throws when asked for simulation time
    const bool waits =
      wait_.count() > 0.0 && clock->get_clock_type() == RCL_ROS_TIME && clock->ros_time_is_active();
    const auto arrived = [&time](const Pad & pad) { return pad.stamp >= time.nanoseconds(); };
    if (waits) {
      arrived_.wait_for(
        lock, wait_, [this, &arrived] { return std::all_of(pads_.begin(), pads_.end(), arrived); });
    }
    const auto now = Clock::now();
    for (const auto & pad : pads_) {
      const bool valid = waits ? arrived(pad) : pad.stamp >= 0 && now - pad.received <= timeout_;
      for (const auto & [name, field] : pad.interfaces) {
        set_state(name, valid ? pad.values[field] : NaN);
      }
    }
    return return_type::OK;
  }

private:
  struct Pad
  {
    std::vector<std::pair<std::string, std::size_t>> interfaces;  // name, index of the field
    rclcpp::Subscription<TactileState>::SharedPtr subscription;
    std::array<double, FIELDS.size()> values{};
    int64_t stamp = -1;  // [ns], -1 before the first message
    Clock::time_point received;
  };

  double parameter(const std::string & name, double missing) const
  {
    const auto & parameters = get_hardware_info().hardware_parameters;
    const auto found = parameters.find(name);
    return found == parameters.end() ? missing : std::stod(found->second);
  }

  void receive(Pad & pad, const TactileState & state)
  {
    {
      std::lock_guard lock(mutex_);
      pad.values = values_of(state);
      pad.stamp = rclcpp::Time(state.header.stamp).nanoseconds();
      pad.received = Clock::now();
    }
    arrived_.notify_one();
  }

  Seconds wait_{};
  Seconds timeout_{};
  std::mutex mutex_;  // held for the time of a copy
  std::condition_variable arrived_;
  std::vector<Pad> pads_;
};
}  // namespace tactile_ros2_control

PLUGINLIB_EXPORT_CLASS(tactile_ros2_control::TactileSensor, hardware_interface::SensorInterface)
