# What a stranger's project finds: the library, its headers, a CMake package and a pkg-config file.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/scaledot)

install(TARGETS scaledot EXPORT scaledot)
install(DIRECTORY include/scaledot TYPE INCLUDE)
install(EXPORT scaledot NAMESPACE scaledot:: FILE scaledotTargets.cmake DESTINATION ${package_dir})

configure_package_config_file(cmake/scaledotConfig.cmake.in scaledotConfig.cmake
                              INSTALL_DESTINATION ${package_dir}
                              NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
# Until 1.0 a minor version may change the interface.
write_basic_package_version_file(scaledotConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/scaledotConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/scaledotConfigVersion.cmake
        DESTINATION ${package_dir})

# The prefix is told by the file's own place, since `cmake --install --prefix` may choose another.
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig
           OUTPUT_VARIABLE pkgconfig_to_prefix)
configure_file(cmake/scaledot.pc.in scaledot.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/scaledot.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

if(SCALEDOT_CLI)
  install(TARGETS scaledot_cli)
endif()
