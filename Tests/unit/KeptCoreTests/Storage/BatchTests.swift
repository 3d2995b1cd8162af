// A batch has one edit for each key, and lists its keys in byte order.

@testable import KeptValues
import Testing

@testable import KeptCore

@Suite struct BatchTests {
  /// Batches that are searched linearly, the largest of these, the smallest that are hashed, and large ones.
  static let sizes = [1, 8, 9, 16, 17, 1000]

  @Test(arguments: sizes)
  func `the last edit for a key counts`(count: Int) throws {
    let keys = try (0..<count).map { try KeyName("section-000.setting-\($0)") }
    var batch = Batch()
    for (number, key) in keys.enumerated() { batch.edit(key, .set(.int(Int64(number)))) }
    for (number, key) in keys.enumerated() where number % 3 == 0 { batch.edit(key, .remove) }
    #expect(batch.edits.count == count)
    for (number, key) in keys.enumerated() {
      #expect(batch.edits[key] == (number % 3 == 0 ? .remove : .set(.int(Int64(number)))))
    }
    #expect(batch.edits.map(\.key) == keys)
    #expect(batch.edits[try KeyName("section-000.setting")] == nil)
  }

  @Test(arguments: [
    ["b", "a"], ["a.b", "a"], ["a\u{1}", "a", "a\u{1}\u{1}"], ["ü", "u\u{308}", "uz"],
    // They differ in the ninth byte after the common prefix, and not in the first eight.
    ["same.12345678b", "same.12345678a", "same.12345678"], ["same.123456780", "same.12345679", "same.1234567"],
  ])
  func `keys are in the order of their bytes`(names: [String]) throws {
    var batch = Batch()
    for name in names { batch.edit(try KeyName(name), .remove) }
    // Texts that are equal in Swift differ in their bytes.
    let sorted = names.map { Array($0.utf8) }.sorted { $0.lexicographicallyPrecedes($1) }
    #expect(batch.keys.map { Array($0.text.utf8) } == sorted)
  }

  @Test func `many keys are in the order of their bytes`() throws {
    let names = (0..<2000).map { "section-\($0 % 7).\(String($0 &* 7919 % 2003, radix: 7))" }
    var batch = Batch()
    for name in names { batch.edit(try KeyName(name), .remove) }
    #expect(batch.keys.map(\.text) == Set(names).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
  }
}
