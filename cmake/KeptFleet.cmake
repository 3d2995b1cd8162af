# Builds the command `kept-fleet`, a Swift package of its own in tools/fleet, with the static runtime.
#
# To compile gRPC takes minutes. So the target kept-fleet is part of `all` only if KEPT_FLEET is on; `cmake --build build --target kept-fleet` builds it always.

include(cmake/KeptProgram.cmake)

set(kept_fleet ${PROJECT_BINARY_DIR}/bin/kept-fleet)
set(KEPT_FLEET_SCRATCH ${PROJECT_BINARY_DIR}/fleet CACHE PATH "Where SwiftPM builds kept-fleet")

file(STRINGS tools/fleet/Sources/kept-fleet/Main.swift fleet_version REGEX "static let version")
if(NOT fleet_version MATCHES "\"${PROJECT_VERSION}\"")
  message(FATAL_ERROR
    "tools/fleet/Sources/kept-fleet/Main.swift must have the version of include/kept.h, ${PROJECT_VERSION}")
endif()

if(KEPT_FLEET)
  set(all ALL)
endif()
# KeptCommand.cmake says why release.yaml is removed.
add_custom_target(kept-fleet ${all}
  COMMAND ${CMAKE_COMMAND} -E rm -f ${KEPT_FLEET_SCRATCH}/release.yaml
  COMMAND ${KEPT_SWIFT} build --package-path ${PROJECT_SOURCE_DIR}/tools/fleet --scratch-path ${KEPT_FLEET_SCRATCH}
    --product kept-fleet ${kept_program_flags}
  COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/bin
  COMMAND ${CMAKE_STRIP} -o ${kept_fleet} ${KEPT_FLEET_SCRATCH}/release/kept-fleet
  BYPRODUCTS ${kept_fleet}
  COMMENT "Building the command kept-fleet with SwiftPM"
  USES_TERMINAL VERBATIM)
