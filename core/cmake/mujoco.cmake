# Define the target mujoco::mujoco for programs that use the library `tactile`: that of an installed CMake package,
# otherwise the library and headers of the Python package `mujoco`.
if(NOT TARGET mujoco::mujoco)
  find_package(mujoco CONFIG QUIET)
endif()
if(NOT TARGET mujoco::mujoco)
  find_package(Python 3 COMPONENTS Interpreter QUIET)
  execute_process(
    COMMAND ${Python_EXECUTABLE} -c "import mujoco, os; print(os.path.dirname(mujoco.__file__), end='')"
    OUTPUT_VARIABLE _mujoco_folder ERROR_QUIET)
  file(GLOB _mujoco_library "${_mujoco_folder}/libmujoco.so.*")
  if(NOT _mujoco_library)
    message(FATAL_ERROR "MuJoCo not found; set mujoco_DIR, or Python_EXECUTABLE to a Python with the package mujoco")
  endif()
  get_filename_component(_mujoco_include "${_mujoco_folder}/include" ABSOLUTE)
  add_library(mujoco::mujoco SHARED IMPORTED)
  set_target_properties(mujoco::mujoco PROPERTIES
    IMPORTED_LOCATION "${_mujoco_library}" INTERFACE_INCLUDE_DIRECTORIES "${_mujoco_include}")
endif()
