// Binary property lists (bplist00): a sequence of objects, a table of their offsets, and a trailer with the sizes.
//
// Nothing in the file is trusted. Each object is read once, and together the objects may not have more bytes than the
// file. An object that is referred to several times counts several times, up to a limit. So reading takes time in
// proportion to the file, however its objects overlap or contain each other.

import KeptCore

/// The objects of a binary property list.
struct BinaryPropertyList {
  let bytes: UnsafeBufferPointer<UInt8>
  /// The size in bytes of a table entry, and of a reference to an object.
  private let offsetSize: Int
  private let referenceSize: Int
  private let root: Int
  private let table: Int
  var objects: [Object?]
  var depth = 0
  /// How many bytes the remaining objects may have.
  private var budget: Int
  /// How many bytes may still be added by values that are stored once and referred to several times.
  private var expansion: Int
  /// Marks an object that is being read: a reference to it is a cycle.
  static var pending: Object { Object(.null, weight: -1) }

  /// An object with everything that it contains.
  struct Object {
    var found: ForeignValue
    /// The number of values and bytes in it, counting an object once for each reference.
    var weight: Int
    /// The depth of nested containers.
    var height = 0

    init(_ value: Value, weight: Int = 1, obstacle: String? = nil) {
      found = ForeignValue(value: value, obstacle: obstacle)
      self.weight = weight
    }
  }

  /// Checks the trailer.
  init(_ bytes: UnsafeBufferPointer<UInt8>) throws(StoreError) {
    let trailer = bytes.count - 32
    guard trailer >= 8, bytes.starts(with: "bplist00".utf8) else {
      throw StoreError(
        .invalid, offset: 0, "the binary property list has no header bplist00, or ends before its trailer")
    }
    self.bytes = bytes
    budget = bytes.count
    expansion = Limits.valueBytes + 64 * bytes.count
    offsetSize = Int(bytes[trailer + 6])
    referenceSize = Int(bytes[trailer + 7])
    guard 1...8 ~= offsetSize, 1...8 ~= referenceSize else {
      throw StoreError(.invalid, offset: trailer + 6, "offsets and references must have 1 to 8 bytes")
    }
    guard let count = Self.number(bytes, at: trailer + 8, size: 8),
      let root = Self.number(bytes, at: trailer + 16, size: 8),
      let table = Self.number(bytes, at: trailer + 24, size: 8), root < count, 8..<trailer ~= table,
      count <= (trailer - table) / offsetSize, count <= table - 8
    else {
      throw StoreError(
        .invalid, offset: trailer + 8,
        "the number of objects, the root or the table of offsets does not fit into the file")
    }
    (self.root, self.table) = (root, table)
    // The objects, and the texts and bytes that are being read from the file.
    try Memory.ask(for: count * MemoryLayout<Object?>.stride + 4 * bytes.count, to: "read a property list")
    objects = Array(repeating: nil, count: count)
  }

  /// The references to the keys and the values of the root; nil if it is not a dictionary.
  mutating func rootMembers() throws(StoreError) -> [(key: Int, value: Int)]? {
    let (kind, count, start) = try head(root)
    guard kind == 0xD else { return nil }
    objects[root] = Self.pending
    let references = try references(2 * count, at: start)
    try Memory.ask(for: 16 * count, to: "read a property list")
    var members: [(key: Int, value: Int)] = []
    members.reserveCapacity(count)
    for index in 0..<count { members.append((try references[index], try references[count + index])) }
    return members
  }

  /// Reads an object by its number.
  mutating func object(_ number: Int) throws(StoreError) -> ForeignValue {
    let object = try read(number)
    try spend(object.weight)
    return object.found
  }
}

// MARK: - Bytes

extension BinaryPropertyList {
  /// The head of an object: its kind, its count, and the offset of its content.
  mutating func head(_ number: Int) throws(StoreError) -> (kind: UInt8, count: Int, start: Int) {
    let place = try offset(of: number)
    let marker = try take(1, at: place)[place]
    let (kind, count) = (marker >> 4, Int(marker & 0xF))
    // These kinds have a count; if it is 15, a separate integer with the count follows.
    guard count == 0xF, 0x4...0x6 ~= kind || kind >= 0xA else { return (kind, count, place + 1) }
    let size = try take(1, at: place + 1)[place + 1]
    guard size >> 4 == 1, size & 0xF <= 3 else { throw outside(place) }
    let length = 1 << Int(size & 0xF)
    _ = try take(length, at: place + 2)
    guard let count = Self.number(bytes, at: place + 2, size: length), count <= bytes.count else {
      throw outside(place)
    }
    return (kind, count, place + 2 + length)
  }

  func offset(of number: Int) throws(StoreError) -> Int {
    let entry = table + number * offsetSize
    guard let offset = Self.number(bytes, at: entry, size: offsetSize), 8..<table ~= offset else {
      throw StoreError(
        .invalid, offset: entry, "the offset of object \(number) lies outside the objects of the property list")
    }
    return offset
  }

  /// The references in a container, which are read one by one because each may have a single byte.
  struct References {
    fileprivate let bytes: UnsafeBufferPointer<UInt8>
    /// The offset of the first reference, and the size of each in bytes.
    fileprivate let start: Int
    fileprivate let size: Int
    /// The number of objects.
    fileprivate let end: Int

    subscript(index: Int) -> Int {
      get throws(StoreError) {
        let place = start + index * size
        guard let reference = BinaryPropertyList.number(bytes, at: place, size: size), reference < end else {
          throw StoreError(
            .invalid, offset: place, "a reference points to an object that does not exist")
        }
        return reference
      }
    }
  }

  mutating func references(_ count: Int, at start: Int) throws(StoreError) -> References {
    guard count <= table / referenceSize else { throw outside(start - 1) }
    _ = try take(count * referenceSize, at: start)
    return References(bytes: bytes, start: start, size: referenceSize, end: objects.count)
  }

  /// The bytes of an object, which count against the budget.
  mutating func take(_ count: Int, at start: Int) throws(StoreError) -> Slice<UnsafeBufferPointer<UInt8>> {
    guard 8...table ~= start, count <= table - start else { throw outside(start) }
    budget -= count
    guard budget >= 0 else {
      throw StoreError(
        .invalid, offset: start, "the objects of the property list have more bytes than the file: they overlap")
    }
    return bytes[start..<start + count]
  }

  mutating func spend(_ weight: Int) throws(StoreError) {
    expansion -= weight
    guard expansion >= 0 else {
      throw StoreError(
        .tooLarge, offset: 0,
        "the property list refers to the same objects so often that its values are far larger than it")
    }
  }

  private func outside(_ offset: Int) -> StoreError {
    StoreError(.invalid, offset: offset, "an object of the property list continues beyond the end of the objects")
  }

  /// A big-endian number; nil if it is above Int.max.
  fileprivate static func number(_ bytes: UnsafeBufferPointer<UInt8>, at place: Int, size: Int) -> Int? {
    Int(exactly: bytes[place..<place + size].reduce(0 as UInt64) { $0 << 8 | UInt64($1) })
  }
}
