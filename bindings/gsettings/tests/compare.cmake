# Runs one program on Kept and on dconf, and compares what it prints.
#   cmake -D PROGRAM=… -D FOLDER=… [-D ARGUMENT=…] -P compare.cmake
# The argument of gsettings_trace is a seed, that of gsettings_cases the name of a case.

if(NOT DEFINED ARGUMENT AND PROGRAM MATCHES trace)
  string(RANDOM LENGTH 9 ALPHABET 0123456789 ARGUMENT)
endif()
file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER})

# What the administrator has set, for each.
set(site org.example.kept.site)
file(WRITE ${FOLDER}/managed.json [[
{"values": {"org.example.kept.site.locked": 1}, "locked": ["org.example.kept.site.locked-only"]}
]])
file(WRITE ${FOLDER}/system.json [[{"values": {"org.example.kept.site.preset": 2}}]])
file(WRITE ${FOLDER}/site/values "[org/example/kept/site]\nlocked=1\npreset=2\n")
file(WRITE ${FOLDER}/site/locks/values "/org/example/kept/site/locked\n/org/example/kept/site/locked-only\n")
file(WRITE ${FOLDER}/profile "user-db:user\nfile-db:${FOLDER}/site.db\n")
file(WRITE ${FOLDER}/profile-of-user "user-db:user\n")
execute_process(COMMAND dconf compile ${FOLDER}/site.db ${FOLDER}/site COMMAND_ERROR_IS_FATAL ANY)

function(run_on backend)
  execute_process(COMMAND ${CMAKE_COMMAND} -E env GSETTINGS_BACKEND=${backend} SETTINGS_TEST_FOLDER=${FOLDER}
      XDG_CONFIG_HOME=${FOLDER}/config-${backend} XDG_RUNTIME_DIR=${FOLDER} DCONF_PROFILE=${FOLDER}/profile
      KEPT_GSETTINGS_MANAGED=${FOLDER}/managed.json KEPT_GSETTINGS_SYSTEM=${FOLDER}/system.json
      ${ARGN} ${PROGRAM} ${ARGUMENT}
    OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
  # Comments of GLib's test framework.
  string(REGEX REPLACE "#[^\n]*\n" "" output "${output}")
  file(WRITE ${FOLDER}/${backend}.txt "${output}")
endfunction()
run_on(kept)

# dconf sometimes reads a setting as it was just before, while its service is writing. Any other difference is there
# each time.
foreach(attempt RANGE 1 5)
  file(REMOVE_RECURSE ${FOLDER}/config-dconf ${FOLDER}/dconf)
  run_on(dconf dbus-run-session --)
  execute_process(COMMAND diff -u ${FOLDER}/dconf.txt ${FOLDER}/kept.txt RESULT_VARIABLE differs)
  if(NOT differs)
    break()
  endif()
endforeach()
if(differs)
  message(FATAL_ERROR "a program sees other things on Kept (+) than on dconf (-); the argument was \"${ARGUMENT}\"")
endif()
