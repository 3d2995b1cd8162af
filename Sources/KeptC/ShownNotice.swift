// The results of the C functions on notices: texts and values that live until the callback returns.

import CPlatform
import KeptCore
import KeptSystem
import KeptValues

/// A notice and the texts and values that C has requested from it.
///
/// Not thread-safe.
final class ShownNotice {
  private struct Texts {
    var key: ShownText?
    var old: ShownText?
    var new: ShownText?
  }
  /// Both sides of a change.
  struct Values {
    var old: ShownValue?
    var new: ShownValue?
  }

  let notice: Notice
  private lazy var tagText = notice.tag.map { ShownText(short: $0) }
  // One element for each change, from the first use on. A lazy property would be copied by each write.
  private var texts: [Texts] = []
  private let memory = ShownMemory()
  private lazy var values = notice.changes.map {
    Values(old: $0.old.map { ShownValue($0, memory) }, new: $0.new.map { ShownValue($0, memory) })
  }

  init(_ notice: Notice) { self.notice = notice }

  var tag: UnsafePointer<CChar>? { tagText?.start }

  func change(_ index: Int) -> Change? {
    notice.changes.indices.contains(index) ? notice.changes[index] : nil
  }

  /// Selects a text of a change.
  enum Side { case key, old, new }

  /// Returns a text of a change; nil if there is none, or if memory for it is lacking.
  func text(_ index: Int, _ side: Side) -> UnsafePointer<CChar>? {
    guard notice.changes.indices.contains(index) else { return nil }
    let change = notice.changes[index]
    switch side {
    case .key: return made(\.key, index) { ShownText(short: change.key.text) }
    case .old: return made(\.old, index) { change.old.flatMap { ShownText($0, memory) } }
    case .new: return made(\.new, index) { change.new.flatMap { ShownText($0, memory) } }
    }
  }

  /// Returns a text that is created at its first use.
  private func made(
    _ text: WritableKeyPath<Texts, ShownText?>, _ index: Int, _ make: () -> ShownText?
  ) -> UnsafePointer<CChar>? {
    if texts.isEmpty { texts = Array(repeating: Texts(), count: notice.changes.count) }
    if texts[index][keyPath: text] == nil { texts[index][keyPath: text] = make() }
    return texts[index][keyPath: text]?.start
  }

  func value(_ index: Int, _ side: KeyPath<Values, ShownValue?>) -> OpaquePointer? {
    guard values.indices.contains(index) else { return nil }
    return values[index][keyPath: side].map { OpaquePointer(Unmanaged.passUnretained($0).toOpaque()) }
  }
}

/// The memory of all texts and values of a notice.
///
/// They are allocated with malloc, which may use up all memory and leave none for Swift.
final class ShownMemory {
  private var allowance = Allowance(each: 128)

  func take(_ count: Int) throws(StoreError) { try allowance.take(count, to: "show a value") }
}

/// Text that ends with a NUL.
final class ShownText {
  let start: UnsafePointer<CChar>
  private let isOfC: Bool

  /// Copies a key or a tag, which is too short to request its memory first.
  init(short text: String) {
    start = Self.copy(text)
    isOfC = false
  }

  /// Copies the JSON of a value; nil if memory for it is lacking.
  init?(_ value: Value, _ memory: ShownMemory) {
    guard (try? memory.take(value.bytes)) != nil, let text = try? value.newCText() else { return nil }
    start = UnsafePointer(text)
    isOfC = true
  }

  /// Copies text into Swift's memory, which must be deallocated, or kept until the process ends.
  static func copy(_ text: String) -> UnsafePointer<CChar> {
    let copy = UnsafeMutablePointer<CChar>.allocate(capacity: text.utf8.count + 1)
    for (index, byte) in text.utf8.enumerated() { copy[index] = CChar(bitPattern: byte) }
    copy[text.utf8.count] = 0
    return UnsafePointer(copy)
  }

  deinit {
    let memory = UnsafeMutablePointer(mutating: start)
    if isOfC { free(memory) } else { memory.deallocate() }
  }
}

/// A value of a notice.
final class ShownValue {
  private let value: Value
  private let memory: ShownMemory
  private var copy: UnsafeMutableRawPointer?
  private(set) var length = 0

  init(_ value: Value, _ memory: ShownMemory) { (self.value, self.memory) = (value, memory) }

  deinit { free(copy) }

  /// Returns the value in the requested type; throws `wrongType` if the conversion would lose information.
  func converted<Asked>(_ asked: StaticString, _ convert: (Value) -> Asked?) throws(StoreError) -> Asked {
    guard let converted = convert(value) else {
      throw StoreError(.wrongType, "the value is \(value.described), not \(asked)")
    }
    return converted
  }

  /// Returns a copy of the content, made once and followed by a NUL.
  ///
  /// Throws `failed` if memory for it is lacking.
  func content(_ bytes: UnsafeRawBufferPointer) throws(StoreError) -> UnsafeRawPointer {
    if let copy { return UnsafeRawPointer(copy) }
    try memory.take(bytes.count)
    guard let made = kept_resized_memory(nil, bytes.count + 1) else {
      throw StoreError(.failed, "not enough memory for the \(bytes.count) bytes of the value; free some memory")
    }
    if let start = bytes.baseAddress { made.copyMemory(from: start, byteCount: bytes.count) }
    made.storeBytes(of: 0, toByteOffset: bytes.count, as: UInt8.self)
    (copy, length) = (made, bytes.count)
    return UnsafeRawPointer(made)
  }
}
