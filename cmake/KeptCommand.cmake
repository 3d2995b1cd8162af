# Builds the command `kept`, a Swift package of its own in apps/command, with the static runtime.
#
# It is compiled apart from the library: its parser inspects stored properties at run time, and the library is built
# without what that needs.

include(cmake/KeptProgram.cmake)

set(kept_command ${PROJECT_BINARY_DIR}/bin/kept)
# The part of `kept import` that has large libraries.
set(kept_formats ${PROJECT_BINARY_DIR}/libexec/kept/kept-formats)
# The pages of the manual and the completions of shells, which the command writes itself.
set(kept_command_pages ${PROJECT_BINARY_DIR}/share/kept)
set(KEPT_COMMAND_SCRATCH ${PROJECT_BINARY_DIR}/command CACHE PATH "Where SwiftPM builds the command")

# SwiftPM looks for new files of the package alone, not of the library next to it, unless it has to plan again.
add_custom_target(kept-command ALL
  COMMAND ${CMAKE_COMMAND} -E rm -f ${KEPT_COMMAND_SCRATCH}/release.yaml
  COMMAND ${KEPT_SWIFT} build --package-path ${PROJECT_SOURCE_DIR}/apps/command --scratch-path ${KEPT_COMMAND_SCRATCH}
    --product kept ${kept_program_flags}
  COMMAND ${KEPT_SWIFT} build --package-path ${PROJECT_SOURCE_DIR}/apps/command --scratch-path ${KEPT_COMMAND_SCRATCH}
    --product kept-formats ${kept_program_flags}
  COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/bin ${PROJECT_BINARY_DIR}/libexec/kept
    ${kept_command_pages}
  COMMAND ${CMAKE_STRIP} -o ${kept_command} ${KEPT_COMMAND_SCRATCH}/release/kept
  COMMAND ${CMAKE_STRIP} -o ${kept_formats} ${KEPT_COMMAND_SCRATCH}/release/kept-formats
  COMMAND ${kept_command} manual --into ${kept_command_pages}
  BYPRODUCTS ${kept_command} ${kept_formats}
  COMMENT "Building the command kept with SwiftPM"
  USES_TERMINAL VERBATIM)

install(PROGRAMS ${kept_command} DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT command)
# `kept` looks for it relative to itself.
install(PROGRAMS ${kept_formats} DESTINATION libexec/kept COMPONENT command)
install(DIRECTORY ${kept_command_pages}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT command
  FILES_MATCHING PATTERN "*.1")
install(FILES ${kept_command_pages}/kept.bash RENAME kept
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT command)
install(FILES ${kept_command_pages}/kept.zsh RENAME _kept
  DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT command)
install(FILES ${kept_command_pages}/kept.fish
  DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT command)
