# Installs three components:
#
#   runtime      to run programs: libkept.so.0 and the licence
#   development  to build and test programs: the headers, libkept.so, kept.pc, find_package(kept) and suppressions for
#                valgrind
#   python       for a Python package: libkept.so.0 alone, as one regular file, and with KEPT_BUNDLE_PCRE2 pcre2.
#                Only on request: cmake --install build --component python

include(CMakePackageConfigHelpers)

set(kept_cmake_folder ${CMAKE_INSTALL_LIBDIR}/cmake/kept)
set(kept_pc_folder ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# Writes a pkg-config file that derives its prefix from its own location, so that an installed tree may be moved.
function(kept_install_pc source)
  cmake_path(GET source STEM LAST_ONLY name)
  file(RELATIVE_PATH up ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
  string(REGEX REPLACE "/$" "" up ${up})
  file(RELATIVE_PATH lib ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_LIBDIR})
  file(RELATIVE_PATH include ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_INCLUDEDIR})
  configure_file(${source} ${PROJECT_BINARY_DIR}/${name} @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name} DESTINATION ${kept_pc_folder} COMPONENT development)
endfunction()

install(FILES ${kept_library} ${PROJECT_BINARY_DIR}/lib/${kept_soname}
  DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime)
# A Debian package has it in its file `copyright`.
if(NOT KEPT_PACKAGE)
  install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime)
endif()

install(FILES ${PROJECT_BINARY_DIR}/lib/libkept.so DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
install(FILES include/kept.h include/kept.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
install(FILES cmake/kept.supp DESTINATION ${CMAKE_INSTALL_DATADIR}/kept/valgrind COMPONENT development)
kept_install_pc(cmake/kept.pc.in)

configure_package_config_file(cmake/keptConfig.cmake.in ${PROJECT_BINARY_DIR}/keptConfig.cmake
  INSTALL_DESTINATION ${kept_cmake_folder} PATH_VARS CMAKE_INSTALL_FULL_BINDIR CMAKE_INSTALL_FULL_LIBDIR
  CMAKE_INSTALL_FULL_INCLUDEDIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/keptConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/keptConfig.cmake ${PROJECT_BINARY_DIR}/keptConfigVersion.cmake
  DESTINATION ${kept_cmake_folder} COMPONENT development)

install(FILES ${kept_library} DESTINATION . RENAME ${kept_soname} COMPONENT python EXCLUDE_FROM_ALL)
if(KEPT_BUNDLE_PCRE2)
  find_library(KEPT_PCRE2_LIBRARY libpcre2-8.so.0 REQUIRED)
  file(REAL_PATH ${KEPT_PCRE2_LIBRARY} pcre2)
  install(FILES ${pcre2} DESTINATION . RENAME libpcre2-8.so.0 COMPONENT python EXCLUDE_FROM_ALL)
endif()
