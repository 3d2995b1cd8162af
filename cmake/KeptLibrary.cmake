# Builds libkept.so: `swift build` links it; ShipLibrary.cmake names it, strips it and checks its size.
#
# Defines the target kept::kept for the tests and for bindings/c. It is an imported target, with the name of the
# installed one, because CMake does not compile it.

find_program(KEPT_SWIFT swift DOC "The Swift 6.3 driver")
find_path(KEPT_PCRE2_HEADER pcre2.h)
mark_as_advanced(KEPT_PCRE2_HEADER)
set(missing)
foreach(needed IN ITEMS "KEPT_SWIFT:swift in PATH" KEPT_PCRE2_HEADER:pcre2.h)
  string(REGEX MATCH "^([^:]*):(.*)$" needed ${needed})
  if(NOT ${CMAKE_MATCH_1})
    list(APPEND missing ${CMAKE_MATCH_2})
  endif()
endforeach()
if(missing)
  list(JOIN missing ", no " missing)
  message(FATAL_ERROR "Kept is built with the Swift 6.3 toolchain and with Debian's package libpcre2-dev; "
    "${missing} is missing on this machine. Install it, or install a wheel or Debian package of Kept, which needs "
    "neither.")
endif()

set(kept_soname libkept.so.${PROJECT_VERSION_MAJOR})
set(kept_file libkept.so.${PROJECT_VERSION})
set(kept_library ${PROJECT_BINARY_DIR}/lib/${kept_file})

# Not the one of `swift build`: SwiftPM locks it, and a concurrent build must not have to wait.
set(KEPT_SCRATCH ${PROJECT_BINARY_DIR}/swiftpm CACHE PATH "Where SwiftPM builds; build folders may share it")

# The C++ library (Swift's runtime needs 70 KB of it) is linked in if the compiler has the archive: with the shared
# one, loading libkept.so takes twice the instructions (docs/decisions/20-build-size-and-packages.md). The linker looks
# first in a folder that has only the archive.
execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=libstdc++.a
  OUTPUT_VARIABLE archive OUTPUT_STRIP_TRAILING_WHITESPACE)
if(IS_ABSOLUTE "${archive}")
  set(static_libraries ${KEPT_SCRATCH}/static)
  file(MAKE_DIRECTORY ${static_libraries})
  file(CREATE_LINK ${archive} ${static_libraries}/libstdc++.a SYMBOLIC)
  set(KEPT_STATIC_FLAGS -Xlinker -L${static_libraries})
endif()

# -static-stdlib  users of libkept.so need neither a Swift toolchain nor its runtime
# -z nodelete     a Swift runtime cannot be unloaded: dlclose() leaves it where it is
# -function-sections  the linker drops unused functions
# -disable-reflection-metadata  no code here inspects stored properties at run time
# -disable-type-layout  structures are copied by their own code, not by the value witnesses of their parts: 11 KB, and 1
#                 to 2 % of the instructions of a set
# -sil-disable-pass=closure-specialize  the pass copies a function for each closure that is passed to it: 80 KB, for at
#                 most 0.5 % of the instructions of a get or a set
# -sil-disable-pass=array-property-opt, loop-unroll  these copy loops: 15 KB, for at most 1 % of the instructions of a
#                 set in a transaction
# lld             packs relocations, which gold cannot: docs/decisions/20-build-size-and-packages.md
# -static-libgcc  loading libgcc_s takes a sixth of the time that loading libkept.so takes: 23 KB
# --icf=all       identical functions are folded: nothing here compares the addresses of functions
# -z pack-relative-relocs  0.4 MB less; needs the loader of glibc 2.36
# -z now          the table of imported functions becomes read-only
# -O2             strings that end alike are stored once
# pip and packagers set CC to gcc, and SwiftPM would compile CRuntime with it.
set(swift_build
  ${CMAKE_COMMAND} -E env --unset=CC --unset=CXX
  ${KEPT_SWIFT} build --package-path ${PROJECT_SOURCE_DIR} --scratch-path ${KEPT_SCRATCH}
  --configuration release --product KeptC
  -Xswiftc -static-stdlib
  -Xswiftc -O
  -Xswiftc -enforce-exclusivity=unchecked
  -Xswiftc -Xfrontend -Xswiftc -disable-reflection-metadata
  -Xswiftc -Xfrontend -Xswiftc -disable-type-layout
  -Xswiftc -Xfrontend -Xswiftc -function-sections
  -Xswiftc -Xllvm -Xswiftc -sil-disable-pass=closure-specialize
  -Xswiftc -Xllvm -Xswiftc -sil-disable-pass=array-property-opt
  -Xswiftc -Xllvm -Xswiftc -sil-disable-pass=loop-unroll
  -Xswiftc -Xclang-linker -Xswiftc -fuse-ld=lld
  -Xswiftc -Xclang-linker -Xswiftc -static-libgcc
  -Xlinker -soname=${kept_soname}
  -Xlinker --version-script=${PROJECT_SOURCE_DIR}/cmake/exports.map
  -Xlinker -znodelete
  -Xlinker --icf=all
  -Xlinker -zpack-relative-relocs
  -Xlinker -znow
  -Xlinker -O2
  -Xlinker -T${PROJECT_SOURCE_DIR}/cmake/unused.ld
  ${KEPT_STATIC_FLAGS}
  ${KEPT_SWIFT_FLAGS})

# Thread Sanitizer recognises lazy initialisation only through the runtime's own lock.
if(NOT "--sanitize=thread" IN_LIST KEPT_SWIFT_FLAGS)
  list(APPEND swift_build -Xlinker --wrap=_ZN5swift14threading_impl9once_slowERNS0_6once_tEPFvPvES3_)
endif()

add_custom_target(kept ALL
  COMMAND ${swift_build}
  COMMAND ${CMAKE_COMMAND}
    -D built=${KEPT_SCRATCH}/release/libKeptC.so -D library=${kept_library} -D soname=${kept_soname}
    -D strip=$<BOOL:${KEPT_STRIP}> -D strip_program=${CMAKE_STRIP}
    -D limit=${KEPT_SIZE_LIMIT} -D bundle=$<BOOL:${KEPT_BUNDLE_PCRE2}>
    -P ${PROJECT_SOURCE_DIR}/cmake/ShipLibrary.cmake
  BYPRODUCTS ${kept_library}
  COMMENT "Building ${kept_file} with SwiftPM"
  USES_TERMINAL VERBATIM)

add_library(kept::kept SHARED IMPORTED GLOBAL)
add_dependencies(kept::kept kept)
set_target_properties(kept::kept PROPERTIES
  IMPORTED_LOCATION ${kept_library}
  IMPORTED_SONAME ${kept_soname}
  INTERFACE_INCLUDE_DIRECTORIES ${PROJECT_SOURCE_DIR}/include)
