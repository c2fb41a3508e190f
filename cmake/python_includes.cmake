# rosidl exports the include folders of Python and numpy as they lie on the machine that builds.

# Message packages that come as wheels name folders of the machine that built them, and CMake refuses a target that
# names a folder which is not there. Call this after find_package and before rosidl_generate_interfaces. It changes
# nothing where the folders exist.
function(drop_missing_includes)
  get_property(_targets DIRECTORY PROPERTY IMPORTED_TARGETS)
  foreach(_target ${_targets})
    if(NOT _target MATCHES "__rosidl_generator_py$")
      continue()
    endif()
    get_target_property(_folders ${_target} INTERFACE_INCLUDE_DIRECTORIES)
    set(_present "")
    foreach(_folder ${_folders})
      if(EXISTS "${_folder}" OR _folder MATCHES "^\\$<")
        list(APPEND _present "${_folder}")
      endif()
    endforeach()
    set_target_properties(${_target} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${_present}")
  endforeach()
endfunction()

# Our own export names none: others would not find them, and CMake refuses folders inside the source tree, where
# .venv lies. Call this after rosidl_generate_interfaces.
function(keep_includes_private)
  set_target_properties(${PROJECT_NAME}__rosidl_generator_py PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "")
endfunction()
