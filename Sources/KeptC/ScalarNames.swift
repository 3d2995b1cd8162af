// The Swift runtime brings the name of every Unicode character along, half a megabyte that nothing here asks for. The
// linker lets whoever asks for a name come here (`--wrap`, cmake/KeptLibrary.cmake), and leaves the names out.

/// What `_swift_stdlib_getScalarName` answers in libkept.so: the length of the name, 0 for none.
@_cdecl("__wrap__swift_stdlib_getScalarName")
func nameOfScalar(_ scalar: UInt32, _ buffer: UnsafeMutablePointer<UInt8>?, _ capacity: Int) -> Int { 0 }
