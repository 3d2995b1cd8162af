# How libkept.so is made: `swift build` links it, ShipLibrary.cmake names, strips and weighs it.
#
# Defines the target kept::kept for the tests and for bindings/c. It is an imported target with the installed one's
# name, because CMake did not compile it.

find_program(KEPT_SWIFT swift REQUIRED DOC "The Swift 6.3 driver")
file(REAL_PATH ${KEPT_SWIFT} swift_driver)
cmake_path(GET swift_driver PARENT_PATH swift_tools)
find_program(KEPT_OBJCOPY llvm-objcopy HINTS ${swift_tools} DOC "The one of the Swift toolchain: Debian's is too old")

set(kept_soname libkept.so.${PROJECT_VERSION_MAJOR})
set(kept_file libkept.so.${PROJECT_VERSION})
set(kept_library ${PROJECT_BINARY_DIR}/lib/${kept_file})

# A scratch path of its own: SwiftPM locks it, and a `swift build` beside this one must not have to wait.
set(scratch ${PROJECT_BINARY_DIR}/swiftpm)

# -static-stdlib  nobody who uses libkept.so needs a Swift toolchain or its runtime
# -z nodelete     a Swift runtime cannot be unloaded: dlclose() leaves it where it is
# unchecked       Swift's checks of exclusive access abort: they run in the tests, and not in the host's process
# -Osize          small code; what a get and a set pass through says @_optimize(speed): docs/decisions/0019-size.md
# -function-sections  what nothing calls is left out by the linker
# --icf=all       code that was compiled alike is there once: nothing here compares the addresses of functions
# --wrap          without what Unicode says of all characters: Sources/KeptC/UnicodeTables.swift
#                 and with first uses that survive a fork: Sources/KeptC/RuntimeOnce.swift
set(swift_build
  ${KEPT_SWIFT} build --package-path ${PROJECT_SOURCE_DIR} --scratch-path ${scratch}
  --configuration release --product KeptC
  -Xswiftc -static-stdlib
  -Xswiftc -enforce-exclusivity=unchecked
  -Xswiftc -Osize
  -Xswiftc -Xfrontend -Xswiftc -function-sections
  -Xlinker -soname=${kept_soname}
  -Xlinker --version-script=${PROJECT_SOURCE_DIR}/cmake/exports.map
  -Xlinker -znodelete
  -Xlinker --icf=all
  -Xlinker --wrap=_swift_stdlib_getScalarName
  -Xlinker --wrap=_swift_stdlib_getGeneralCategory
  -Xlinker --wrap=_swift_stdlib_getAge
  -Xlinker --wrap=_swift_stdlib_getMapping
  -Xlinker --wrap=_swift_stdlib_getCaseMapping
  -Xlinker --wrap=_swift_stdlib_getScript
  -Xlinker --wrap=_swift_stdlib_getNumericType
  ${KEPT_SWIFT_FLAGS})

# The Thread Sanitizer hears of first uses from the runtime's own lock only.
if(NOT "--sanitize=thread" IN_LIST KEPT_SWIFT_FLAGS)
  list(APPEND swift_build -Xlinker --wrap=_ZN5swift14threading_impl9once_slowERNS0_6once_tEPFvPvES3_)
endif()

add_custom_target(kept ALL
  COMMAND ${swift_build}
  COMMAND ${CMAKE_COMMAND}
    -D built=${scratch}/release/libKeptC.so -D library=${kept_library} -D soname=${kept_soname}
    -D strip=$<BOOL:${KEPT_STRIP}> -D strip_program=${CMAKE_STRIP} -D objcopy=${KEPT_OBJCOPY}
    -D limit=${KEPT_SIZE_LIMIT}
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
