include("${CMAKE_CURRENT_LIST_DIR}/mujoco.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/tactileTargets.cmake")
