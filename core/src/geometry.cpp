#include "tactile/geometry.h"

#include <algorithm>
#include <numeric>

namespace tactile {

namespace {

// Return the bounding box of the items in [begin, end), and the axis on which their centers spread the most.
Box bound(const std::vector<Vec3>& low, const std::vector<Vec3>& high, const std::vector<int>& order, int begin,
          int end, int* axis) {
  Box box;
  double widest = -1.0;
  for (int k = 0; k < 3; ++k) {
    double least = kInfinity, most = -kInfinity, first = kInfinity, last = -kInfinity;
    for (int i = begin; i < end; ++i) {
      const double a = low[order[i]][k], b = high[order[i]][k], center = 0.5 * (a + b);
      least = std::min(least, a), most = std::max(most, b);
      first = std::min(first, center), last = std::max(last, center);
    }
    box.center[k] = 0.5 * (least + most);
    box.half[k] = 0.5 * (most - least) + kPad;
    if (last - first > widest) widest = last - first, *axis = k;
  }
  return box;
}

// Append the subtree of the items in [begin, end), split at the median along their widest axis.
void append(Tree& tree, const std::vector<Vec3>& low, const std::vector<Vec3>& high, int leaf, int begin,
            int end) {
  int axis = 0;
  const Box box = bound(low, high, tree.order, begin, end, &axis);
  const size_t at = tree.nodes.size();
  tree.nodes.push_back({box, 0, begin, end});
  if (end - begin > leaf) {
    std::stable_sort(tree.order.begin() + begin, tree.order.begin() + end, [&](int a, int b) {
      return low[a][axis] + high[a][axis] < low[b][axis] + high[b][axis];
    });
    const int middle = (begin + end) / 2;
    append(tree, low, high, leaf, begin, middle);
    append(tree, low, high, leaf, middle, end);
    tree.nodes[at].end = begin;
  }
  tree.nodes[at].skip = static_cast<int>(tree.nodes.size());
}

}  // namespace

Tree Tree::build(const std::vector<Vec3>& low, const std::vector<Vec3>& high, int leaf) {
  Tree tree;
  tree.order.resize(low.size());
  std::iota(tree.order.begin(), tree.order.end(), 0);
  if (!low.empty()) append(tree, low, high, leaf, 0, static_cast<int>(low.size()));
  return tree;
}

}  // namespace tactile
