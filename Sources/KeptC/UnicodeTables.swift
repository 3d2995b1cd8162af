// The Swift runtime brings along what Unicode says of every character: names (552 KB), categories, ages, scripts, upper
// and lower case, numeric values (85 KB). Kept asks for none of it: it compares bytes, and knows ASCII by itself. The
// linker lets whoever asks come here (`--wrap`, cmake/KeptLibrary.cmake), and leaves the tables out. White space and
// what belongs to one character are still known.

/// The length of the name; 0 for none.
@_cdecl("__wrap__swift_stdlib_getScalarName")
func nameOfScalar(_ scalar: UInt32, _ buffer: UnsafeMutablePointer<UInt8>?, _ capacity: Int) -> Int { 0 }

/// 29 is "unassigned".
@_cdecl("__wrap__swift_stdlib_getGeneralCategory")
func categoryOfScalar(_ scalar: UInt32) -> UInt8 { 29 }

/// The version of Unicode that has it; the highest number for none.
@_cdecl("__wrap__swift_stdlib_getAge")
func ageOfScalar(_ scalar: UInt32) -> UInt16 { .max }

/// How far away the upper or lower case is.
@_cdecl("__wrap__swift_stdlib_getMapping")
func caseOfScalar(_ scalar: UInt32, _ mapping: UInt8) -> Int32 { 0 }

/// What it is where case does not count; up to three scalars.
@_cdecl("__wrap__swift_stdlib_getCaseMapping")
func casesOfScalar(_ scalar: UInt32, _ mapped: UnsafeMutablePointer<UInt32>?) { mapped?.pointee = scalar }

/// The script; the highest number for none.
@_cdecl("__wrap__swift_stdlib_getScript")
func scriptOfScalar(_ scalar: UInt32) -> UInt8 { .max }

/// What kind of number it is; the highest number for none.
@_cdecl("__wrap__swift_stdlib_getNumericType")
func numberKindOfScalar(_ scalar: UInt32) -> UInt8 { .max }
