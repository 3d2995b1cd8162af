// Which types keep their own kind inside a Codable value: bytes stay bytes and dates stay dates, as outside one.

/// A type that the coders hand over as ``Storable/stored()`` says, instead of asking its `Codable` conformance.
///
/// Every type that Codable calls primitive must be among them: asked to code itself, it asks the coder to code it.
protocol CodedAsStored: Storable {}
