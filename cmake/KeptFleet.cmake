# Builds the command `kept-fleet`, a Swift package of its own in apps/fleet, with the static runtime.
#
# To compile gRPC takes minutes. So the target kept-fleet is part of `all`, and what it makes is installed, only if
# KEPT_FLEET is on; `cmake --build build --target kept-fleet` builds it always.

include(cmake/KeptProgram.cmake)

set(kept_fleet ${PROJECT_BINARY_DIR}/bin/kept-fleet)
# The page of the manual and the completions of shells, which the program writes itself.
set(kept_fleet_pages ${PROJECT_BINARY_DIR}/share/kept-fleet)
set(KEPT_FLEET_SCRATCH ${PROJECT_BINARY_DIR}/fleet CACHE PATH "Where SwiftPM builds kept-fleet")

if(KEPT_FLEET)
  set(all ALL)
endif()
# KeptCommand.cmake says why release.yaml is removed.
add_custom_target(kept-fleet ${all}
  COMMAND ${CMAKE_COMMAND} -E rm -f ${KEPT_FLEET_SCRATCH}/release.yaml
  COMMAND ${KEPT_SWIFT} build --package-path ${PROJECT_SOURCE_DIR}/apps/fleet --scratch-path ${KEPT_FLEET_SCRATCH}
    --product kept-fleet ${kept_program_flags}
  COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/bin ${kept_fleet_pages}
  COMMAND ${CMAKE_STRIP} -o ${kept_fleet} ${KEPT_FLEET_SCRATCH}/release/kept-fleet
  COMMAND ${kept_fleet} manual ${kept_fleet_pages}
  BYPRODUCTS ${kept_fleet}
  COMMENT "Building the command kept-fleet with SwiftPM"
  USES_TERMINAL VERBATIM)

if(KEPT_FLEET)
  install(PROGRAMS ${kept_fleet} DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT fleet)
  install(FILES ${kept_fleet_pages}/kept-fleet.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT fleet)
  install(FILES ${kept_fleet_pages}/kept-fleet.bash RENAME kept-fleet
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT fleet)
  install(FILES ${kept_fleet_pages}/kept-fleet.zsh RENAME _kept-fleet
    DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT fleet)
  install(FILES ${kept_fleet_pages}/kept-fleet.fish
    DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT fleet)
  # systemd looks in lib, whatever the folder of libraries is.
  install(FILES apps/fleet/systemd/kept-fleet-follow@.service DESTINATION lib/systemd/system COMPONENT fleet)
  install(FILES apps/fleet/systemd/kept-fleet-sync@.service DESTINATION lib/systemd/user COMPONENT fleet)
  # /etc for the prefix /usr, as a path below the prefix: a package is put together in a folder of its own.
  file(RELATIVE_PATH settings ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_SYSCONFDIR})
  install(FILES apps/fleet/systemd/fleet.conf DESTINATION ${settings}/kept COMPONENT fleet)
endif()
