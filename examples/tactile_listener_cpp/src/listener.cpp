// Subscribes to the whole skin and logs once per second which body is touched hardest.

#include <cmath>
#include <cstddef>
#include <memory>
#include <string>

#include "rclcpp/rclcpp.hpp"
#include "tactile_sim/msg/tactile_frame.hpp"

class Listener : public rclcpp::Node
{
public:
  Listener() : Node("tactile_listener")
  {
    subscription_ = create_subscription<tactile_sim::msg::TactileFrame>(
      "tactile/frame", 10,
      [this](tactile_sim::msg::TactileFrame::ConstSharedPtr frame) { feel(*frame); });
  }

private:
  void feel(const tactile_sim::msg::TactileFrame & frame)
  {
    const float * values = frame.data.data();  // body after body, within a body taxel after taxel
    std::size_t taxels = 0;
    std::size_t most = 0;
    double strongest = 0.0;
    for (std::size_t body = 0; body < frame.bodies.size(); ++body) {
      double sum = 0.0;
      for (std::size_t taxel = 0; taxel < frame.taxel_counts[body]; ++taxel) {
        double square = 0.0;
        for (std::size_t channel = 0; channel < frame.channels; ++channel, ++values) {
          square += static_cast<double>(*values) * *values;
        }
        sum += std::sqrt(square);
      }
      if (sum > strongest) {
        strongest = sum;
        most = body;
      }
      taxels += frame.taxel_counts[body];
    }
    const std::string where = strongest > 0.0 ? "most on " + frame.bodies[most] : "nothing touched";
    RCLCPP_INFO_THROTTLE(
      get_logger(), *get_clock(), 1000, "%zu taxels on %zu bodies, %s: %.3f %s", taxels,
      frame.bodies.size(), where.c_str(), strongest, frame.unit.c_str());
  }

  rclcpp::Subscription<tactile_sim::msg::TactileFrame>::SharedPtr subscription_;
};

int main(int argc, char ** argv)
{
  rclcpp::init(argc, argv);
  rclcpp::spin(std::make_shared<Listener>());
  rclcpp::shutdown();
  return 0;
}
