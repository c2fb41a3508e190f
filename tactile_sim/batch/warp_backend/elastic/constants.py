"""Constants of `elastic_foundation`, with the values of the native code in core/src."""

APART = 0.7
"""Contacts with the same body are in separate pairs if the cosine between their normals is below this."""
FACING = 0.2
"""Minimum cosine between a point's outward normal and the direction to the other surface."""
UPRIGHT = 0.999
"""A face is level if the cosine between its normal and the pair's normal is above this."""
UNEVEN = 0.25
"""The gap is uneven where the gaps of neighboring taxels differ by more than this, relative to their
spacing."""
LEVEL_SLOPE = 0.12
"""Maximum slope of the gap between two neighboring taxels: the difference of their gaps divided by their
distance. It holds for taxels in one plane under a level face, and must be at least sin(2 acos(UPRIGHT)) +
`quadrature.FLAT`."""
EDGE = 1e-12
"""Tolerance of barycentric coordinates, so that a line through a shared edge hits at least one triangle."""
SAME = 1e-7
"""Crossings of a line with triangles count as one if their heights differ by at most this [m]."""
PARALLEL = 1e-12
"""A line is parallel to a plane if its direction's absolute component along the normal is below this."""
MISSED = 1e300
"""Gap of a taxel if the line from the taxel along the pair's normal misses the other body [m]."""
GUESS = 3.0
"""Depth of the first search for pressed points, relative to the depth estimated without a tilt."""
MOST_CUTS = 20
"""Maximum number of iterations of the depth estimate. Each iteration leaves out the taxels that are not
pressed at the previously estimated depth."""
DEPTHS = GUESS, 1e30
"""Depths up to which points may be pressed, as multiples of the depth estimated without a tilt.

The second depth is only used if the moment of the loads cannot be balanced within the first depth, or only by
a tilt that also presses deeper points.
"""
BEYOND = 1.5
"""Distance by which the tilted layer is extrapolated beyond the pressed points, to check whether it also
presses deeper points [spacings]."""
SMALL = 1e-8
"""Torsional moments below this fraction of the normal force times the spacing are ignored."""
CLOSE = 1e-7
"""Tolerance of the center of pressure, relative to the spacing."""
OUT_OF_REACH = 1e-3
"""The required center of pressure is out of reach if it is missed by more than this fraction of the spacing.

In this case, deeper points are tried, which doubles the cost.
"""
MOST_ROUNDS = 20
"""Maximum number of iterations; curved skins need several, because a twist changes the other moments."""
TILT_PENALTY = 1e-9
"""Penalty stiffness of the tilts, relative to that of the layer itself at a distance of one spacing."""
MOST_STEPS = 60
STEEPEST = 0.5
"""A shortened step is too short if the energy at its end still descends with more than this fraction of the
initial slope."""
