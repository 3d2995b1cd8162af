// Types that keep their own kind inside a Codable value: bytes stay bytes and dates stay dates, as outside of one.

/// A type that the coders encode by ``Storable/stored()``, instead of its `Codable` conformance.
///
/// It must include every type that is primitive in Codable: the conformance of such a type only passes it back to the
/// coder.
protocol CodedAsStored: Storable {}
