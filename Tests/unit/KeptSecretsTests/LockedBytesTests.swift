// Where plain text and keys are in memory.

import Foundation
import KeptValues
import Testing

@testable import KeptSecrets

@Suite struct `A secret in memory` {
  /// The flags of the mapping that has an address (proc(5), VmFlags).
  private func flags(of address: UInt) throws -> [Substring] {
    var isFound = false
    // All of it: String(contentsOfFile:) reads no more than one page of such a file.
    let maps = try FileHandle(forReadingFrom: URL(filePath: "/proc/self/smaps")).readToEnd() ?? Data()
    for line in String(decoding: maps, as: UTF8.self).split(separator: "\n") {
      let ends = line.prefix { $0 != " " }.split(separator: "-").compactMap { UInt($0, radix: 16) }
      if ends.count == 2 { isFound = ends[0] <= address && address < ends[1] }
      if isFound, line.hasPrefix("VmFlags:") { return line.split(separator: " ") }
    }
    return []
  }

  @Test func `is wiped when it is released, and its memory used again`() throws {
    let text = "a secret of this test alone"
    let first = try LockedBytes.text(text).withBytes { bytes throws(StoreError) in bytes.baseAddress }
    let address = try #require(first)
    // Another test may have the place by now, but not this text.
    #expect(String(decoding: UnsafeBufferPointer(start: address, count: text.utf8.count), as: UTF8.self) != text)
  }

  @Test func `keeps its bytes while others come and go`() throws {
    var kept: [(LockedBytes, [UInt8])] = []
    for round in 0..<2000 {
      let bytes = [UInt8](
        repeating: UInt8(truncatingIfNeeded: round), count: [0, 1, 64, 65, 512, 513, 4097][round % 7])
      let locked = try bytes.withUnsafeBufferPointer { bytes throws(StoreError) in try LockedBytes(copying: bytes) }
      if round % 3 != 0 { kept.append((locked, bytes)) }
      if round % 5 == 0, !kept.isEmpty { kept.remove(at: round % kept.count) }
    }
    for (locked, bytes) in kept { #expect(locked.array == bytes) }
  }

  @Test(arguments: [6, 10_000]) func `is left out of core dumps, and locked`(count: Int) throws {
    let secret = try LockedBytes.random(count)
    let address = try secret.withBytes { bytes throws(StoreError) in UInt(bitPattern: bytes.baseAddress) }
    let flags = try flags(of: address)
    #expect(flags.contains("dd"), "\(flags)")
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(8), &limit)  // RLIMIT_MEMLOCK
    if limit.rlim_cur > 1 << 20 { #expect(flags.contains("lo"), "\(flags)") }
  }
}
