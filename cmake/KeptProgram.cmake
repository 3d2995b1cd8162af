# The flags of `swift build` for programs that are installed: they contain the static runtime, so that they run where
# there is no Swift. KeptLibrary.cmake says what the flags are for.

set(kept_program_flags
  --configuration release
  --disable-local-rpath
  -Xswiftc -static-stdlib
  -Xswiftc -O
  -Xswiftc -Xfrontend -Xswiftc -function-sections
  -Xswiftc -Xfrontend -Xswiftc -disable-concrete-type-metadata-mangled-name-accessors
  -Xswiftc -Xclang-linker -Xswiftc -fuse-ld=lld
  -Xswiftc -Xclang-linker -Xswiftc -static-libgcc
  -Xlinker --gc-sections
  -Xlinker --icf=all
  -Xlinker -zpack-relative-relocs
  -Xlinker -znow
  -Xlinker -O2
  ${KEPT_STATIC_FLAGS})
