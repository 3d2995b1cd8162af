# Makes Debian packages and a tarball of the installed components. scripts/package calls it, in a folder of its own.

set(CPACK_PACKAGE_NAME kept)
set(CPACK_PACKAGE_VENDOR "The Kept founders")
set(CPACK_PACKAGE_CONTACT "The Kept founders <founders@kept.invalid>")
# Or else it would be the first line of every description.
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(components runtime development command modules)
if(KEPT_GSETTINGS)
  list(APPEND components gsettings)
endif()
if(KEPT_FLEET)
  list(APPEND components fleet)
endif()
set(CPACK_COMPONENTS_ALL ${components})
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
# The files were stripped when they were linked.
set(CPACK_STRIP_FILES OFF)
set(CPACK_ARCHIVE_COMPONENT_INSTALL OFF)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/lib)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

# Packed relocations need the loader of glibc 2.36; dpkg-shlibdeps only looks at functions.
set(loader "libc6 (>= 2.36)")
# It is loaded when a pattern is first used, so dpkg-shlibdeps does not see it.
set(patterns "libpcre2-8-0 (>= 10.32)")

set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME libkept${PROJECT_VERSION_MAJOR})
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_DEPENDS "${loader}, ${patterns}")
# It is loaded when a store has secrets that are encrypted, and it calls programs of the others for some providers.
set(secrets "libsodium23")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_RECOMMENDS "${secrets}")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SUGGESTS "libsecret-tools")
# What programs that are linked with it depend on, and that the loader's cache is renewed.
set(soversion ${PROJECT_VERSION_MAJOR})
file(WRITE ${PROJECT_BINARY_DIR}/shlibs
  "libkept ${soversion} libkept${soversion} (>= ${PROJECT_VERSION})\n"
  "libkept_json ${soversion} libkept${soversion} (>= ${PROJECT_VERSION})\n")
file(WRITE ${PROJECT_BINARY_DIR}/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA
  "${PROJECT_BINARY_DIR}/shlibs;${PROJECT_SOURCE_DIR}/cmake/symbols;${PROJECT_BINARY_DIR}/triggers")
set(CPACK_DEBIAN_RUNTIME_DESCRIPTION "typed settings store that programs share (library)
Declare a setting once, read it at memory speed, hear of every change in every
process, and lose nothing when a process is killed. For C, Python and Swift.

This package has the library for programs in C. It contains the run time of
Swift, so that no Swift is needed.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libkept-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
  "libkept${PROJECT_VERSION_MAJOR} (= ${PROJECT_VERSION}-1), libjson-c-dev")
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION "typed settings store that programs share (development)
Declare a setting once, read it at memory speed, hear of every change in every
process, and lose nothing when a process is killed.

This package has the headers of libkept and libkept_json, and their files for
pkg-config, CMake and valgrind.")

set(CPACK_DEBIAN_COMMAND_PACKAGE_NAME kept)
set(CPACK_DEBIAN_COMMAND_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_COMMAND_PACKAGE_DEPENDS "${loader}, ${patterns}")
set(CPACK_DEBIAN_COMMAND_PACKAGE_RECOMMENDS "${secrets}")
# It reads dumps of dconf for `kept import`.
set(CPACK_DEBIAN_COMMAND_PACKAGE_SUGGESTS "kept-gsettings, libsecret-tools")
set(CPACK_DEBIAN_COMMAND_DESCRIPTION "typed settings store that programs share (command)
The command kept reads, changes, explains, watches, edits, compares and checks
the settings of programs that use Kept. It needs no other package of Kept.")

# GLib notices a new module by a trigger of its own.
set(CPACK_DEBIAN_GSETTINGS_PACKAGE_NAME kept-gsettings)
set(CPACK_DEBIAN_GSETTINGS_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_GSETTINGS_PACKAGE_DEPENDS "libkept${PROJECT_VERSION_MAJOR} (>= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_GSETTINGS_DESCRIPTION "typed settings store that programs share (GSettings)
A backend of GSettings: with it programs of GNOME keep their settings in
Kept, and the command kept-gsettings, which declares their schemas and moves
settings from dconf and back.")

set(CPACK_DEBIAN_FLEET_PACKAGE_NAME kept-fleet)
set(CPACK_DEBIAN_FLEET_PACKAGE_SECTION admin)
set(CPACK_DEBIAN_FLEET_PACKAGE_DEPENDS "${loader}, ${patterns}")
set(CPACK_DEBIAN_FLEET_PACKAGE_RECOMMENDS "ca-certificates, ${secrets}")
set(CPACK_DEBIAN_FLEET_PACKAGE_SUGGESTS "etcd-server, kept")
set(CPACK_DEBIAN_FLEET_PACKAGE_CONTROL_EXTRA
  "${PROJECT_SOURCE_DIR}/apps/fleet/debian/conffiles;${PROJECT_SOURCE_DIR}/apps/fleet/debian/postinst"
  "${PROJECT_SOURCE_DIR}/apps/fleet/debian/prerm;${PROJECT_SOURCE_DIR}/apps/fleet/debian/postrm")
set(CPACK_DEBIAN_FLEET_DESCRIPTION "typed settings store that programs share (etcd)
The command kept-fleet brings an administrator's settings to many machines, and
keeps a user's settings the same on several, through etcd.

This package has services for systemd, which are not started: each needs the
name of a program and the members of etcd. It needs no other package of Kept.")

install(DIRECTORY bindings/python/src/kept DESTINATION lib/python3/dist-packages COMPONENT modules
  FILES_MATCHING PATTERN "*.py" PATTERN "py.typed" PATTERN "__pycache__" EXCLUDE)
set(CPACK_DEBIAN_MODULES_PACKAGE_NAME python3-kept)
set(CPACK_DEBIAN_MODULES_PACKAGE_SECTION python)
set(CPACK_DEBIAN_MODULES_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_MODULES_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_MODULES_PACKAGE_DEPENDS
  "python3 (>= 3.11), libkept${PROJECT_VERSION_MAJOR} (>= ${PROJECT_VERSION})")
# As dh_python3 does: Python compiles the modules once, and what it has compiled goes with them.
file(WRITE ${PROJECT_BINARY_DIR}/modules/postinst "#!/bin/sh
set -e
if command -v py3compile >/dev/null; then
  py3compile -p python3-kept
fi
")
file(WRITE ${PROJECT_BINARY_DIR}/modules/prerm "#!/bin/sh
set -e
if command -v py3clean >/dev/null; then
  py3clean -p python3-kept
else
  find /usr/lib/python3/dist-packages/kept -name __pycache__ -prune -exec rm -rf {} +
fi
")
set(CPACK_DEBIAN_MODULES_PACKAGE_CONTROL_EXTRA
  "${PROJECT_BINARY_DIR}/modules/postinst;${PROJECT_BINARY_DIR}/modules/prerm")
set(CPACK_DEBIAN_MODULES_DESCRIPTION "typed settings store that programs share (Python)
Declare a setting once, read it at memory speed, hear of every change in every
process, and lose nothing when a process is killed.

This package has the module kept for Python 3. It calls libkept.")

# Every Debian package says who has written it and what has changed.
string(TIMESTAMP now "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/changelog CONTENT "kept (@PROJECT_VERSION@-1) unstable; urgency=medium

  * CHANGELOG.md in the sources says what has changed.

 -- The Kept founders <founders@kept.invalid>  @now@
" @ONLY)
foreach(component IN LISTS components)
  string(TOUPPER ${component} upper)
  set(documents ${CMAKE_INSTALL_DATADIR}/doc/${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
  install(FILES cmake/copyright DESTINATION ${documents} COMPONENT ${component})
  install(CODE "
    file(MAKE_DIRECTORY \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${documents}\")
    execute_process(COMMAND gzip -9nc \"${PROJECT_BINARY_DIR}/changelog\" COMMAND_ERROR_IS_FATAL ANY
      OUTPUT_FILE \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${documents}/changelog.Debian.gz\")
    file(GLOB pages \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_MANDIR}/man1/kept*.1\")
    if(pages)
      execute_process(COMMAND gzip -9nf \${pages} COMMAND_ERROR_IS_FATAL ANY)
    endif()
  " COMPONENT ${component})
endforeach()

include(CPack)
