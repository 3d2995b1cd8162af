// What the functions on notices give to C: texts and values that live as long as the callback.

import CPlatform
import KeptCore

/// A notice and what was asked of it.
///
/// Used by one thread.
final class ShownNotice {
  private struct Texts {
    var key: ShownText
    var old: ShownText?
    var new: ShownText?
  }
  /// Both sides of a change.
  struct Values {
    var old: ShownValue?
    var new: ShownValue?
  }

  let notice: Notice
  private lazy var tagText = notice.tag.map(ShownText.init)
  private lazy var texts: [Texts?] = Array(repeating: nil, count: notice.changes.count)
  private lazy var values = notice.changes.map {
    Values(old: $0.old.map { ShownValue($0) }, new: $0.new.map { ShownValue($0) })
  }

  init(_ notice: Notice) { self.notice = notice }

  var tag: UnsafePointer<CChar>? { tagText?.start }

  func change(_ index: Int) -> Change? {
    notice.changes.indices.contains(index) ? notice.changes[index] : nil
  }

  /// Which text of a change is meant.
  enum Side { case key, old, new }

  func text(_ index: Int, _ side: Side) -> UnsafePointer<CChar>? {
    guard notice.changes.indices.contains(index) else { return nil }
    let made = texts[index] ?? texts(of: notice.changes[index])
    texts[index] = made
    return switch side {
    case .key: made.key.start
    case .old: made.old?.start
    case .new: made.new?.start
    }
  }

  func value(_ index: Int, _ side: KeyPath<Values, ShownValue?>) -> OpaquePointer? {
    guard values.indices.contains(index) else { return nil }
    return values[index][keyPath: side].map { OpaquePointer(Unmanaged.passUnretained($0).toOpaque()) }
  }

  private func texts(of change: Change) -> Texts {
    Texts(
      key: ShownText(change.key.text), old: change.old.map { ShownText($0.json) },
      new: change.new.map { ShownText($0.json) })
  }
}

/// Text with a NUL behind it.
final class ShownText {
  let start: UnsafePointer<CChar>?

  init(_ text: String) { start = UnsafePointer(strdup(text)) }

  deinit { free(UnsafeMutablePointer(mutating: start)) }
}

/// A value of a notice.
final class ShownValue {
  private let value: Value
  private var copy: UnsafeMutableRawPointer?
  private(set) var length = 0

  init(_ value: Value) { self.value = value }

  deinit { copy?.deallocate() }

  /// The value in the type that was asked for; `wrongType` where it would not survive.
  func converted<Asked>(_ asked: StaticString, _ convert: (Value) -> Asked?) throws(StoreError) -> Asked {
    guard let converted = convert(value) else {
      throw StoreError(.wrongType, "the value is \(value.described), asked for \(asked)")
    }
    return converted
  }

  /// A copy of the content, made once, with a NUL behind it.
  func content(_ bytes: [UInt8]) -> UnsafeRawPointer? {
    if let copy { return UnsafeRawPointer(copy) }
    let made = UnsafeMutableRawPointer.allocate(byteCount: bytes.count + 1, alignment: 1)
    bytes.withUnsafeBytes { made.copyMemory(from: $0.baseAddress ?? UnsafeRawPointer(made), byteCount: bytes.count) }
    made.storeBytes(of: 0, toByteOffset: bytes.count, as: UInt8.self)
    (copy, length) = (made, bytes.count)
    return UnsafeRawPointer(made)
  }
}
