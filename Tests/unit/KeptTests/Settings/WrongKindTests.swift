// A value of the wrong kind, an undecodable one and an unknown raw value, with every way to read: a typed error or the
// default, and the stored value is unchanged.

import Kept
import Synchronization
import Testing

private enum Theme: String, Storable { case system, dark }
private struct Frame: Codable, Storable, Equatable { var width = 1 }

private struct Window: SettingsGroup {
  enum Keys: String, GroupKey { case subject }
  let store: Store
}

@Suite struct `A value that is not of its key's type` {
  /// Reads a stored value in every way.
  private func check<T: Storable & Equatable>(
    _ stored: Value, as fallback: T, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let test = TestStore()
    let (settings, key) = (test.store, Key("subject", default: fallback))
    try settings.set(stored, forKey: "subject")
    let setting = Setting(key, in: settings)
    let handle = try settings.handle(key)
    let mapped = handle.map(encode: { (pair: [T]) in pair[0] }, decode: { [$0, $0] })

    let throwing: [() throws -> Void] = [
      { _ = try settings.value(for: key) }, { try settings.updateValue(key) { _ in } },
      { try settings.transaction { _ = try $0.value(for: key) } }, { _ = try setting.projectedValue.get() },
      { _ = try handle.get() }, { _ = try mapped.get() }, { _ = try handle.erased().get() },
      { _ = try Window(store: settings).value(T.self, forKey: .subject) },
    ]
    for call in throwing { _ = failure(.wrongType, sourceLocation: sourceLocation, call) }
    #expect(test.takeReported().isEmpty, "who throws does not report", sourceLocation: sourceLocation)

    let forgiving: [() throws -> T] = [
      { settings[key] }, { try settings.transaction { $0[key] } }, { setting.wrappedValue }, { handle.value },
      { mapped.value[1] }, { try #require(handle.erased().value as? T) },
    ]
    for (place, call) in forgiving.enumerated() {
      #expect(try call() == fallback, "\(place)", sourceLocation: sourceLocation)
      #expect(test.takeReported().map(\.code) == [.wrongType], "\(place)", sourceLocation: sourceLocation)
    }

    let all = Mutex<[(T, (any Error)?)]>([])
    let tokens = [
      try settings.observe(key, initial: true) { change in all.withLock { $0.append((change.new, change.error)) } },
      try handle.observe(initial: true) { change in all.withLock { $0.append((change.new, change.error)) } },
      try mapped.observe(initial: true) { change in all.withLock { $0.append((change.new[0], change.error)) } },
    ]
    let changes = all.withLock { $0 }
    #expect(changes.map(\.0) == [fallback, fallback, fallback], sourceLocation: sourceLocation)
    #expect(changes.allSatisfy { ($0.1 as? StoreError)?.code == .wrongType }, sourceLocation: sourceLocation)
    for token in tokens { token.cancel() }

    #expect(try settings.contains(key), sourceLocation: sourceLocation)
    #expect(try settings.value(forKey: "subject") == stored, "it stays", sourceLocation: sourceLocation)
    #expect(try settings.currentRevision() == 1, "nothing was written", sourceLocation: sourceLocation)
  }

  @Test func `another kind is an error or the default under every accessor`() throws {
    try check("loud", as: 50)
    try check(true, as: 50)
    try check(1, as: true)
    try check(0.5, as: UInt8(3))
    try check(5, as: "text")
    try check([1], as: ["a": 1])
  }

  @Test func `an undecodable Codable is an error or the default under every accessor`() throws {
    try check(["width": "wide"], as: Frame())
    try check([:], as: Frame(width: 7))
    try check([["width": 1], ["height": 1]], as: [Frame()])
  }

  @Test func `an unknown raw value is an error or the default under every accessor, alone and inside arrays`() throws {
    try check("neon", as: Theme.dark)
    try check(["dark", "neon"], as: [Theme.system])
    try check(["a": ["dark", "neon"]], as: ["b": [Theme.system]])
  }
}
