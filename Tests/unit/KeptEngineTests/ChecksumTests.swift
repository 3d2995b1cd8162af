// The checksum of frames, records and blocks.

import CPlatform
import Testing

@Suite struct ChecksumTests {
  @Test func `a checksum is CRC-32C`() {
    let digits = Array("123456789".utf8)
    #expect(kept_checksum(0, digits, digits.count) == 0xE306_9283)
    #expect(kept_checksum(0, nil, 0) == 0)
  }

  @Test func `a checksum is the same by the instruction of the processor, by the table, and in pieces`() {
    var random = SeededRandom(7)
    // From 4,080 bytes on, three parts are checked at once.
    for count in Array(0..<100) + [4_079, 4_080, 4_081, 8_160, 12_345, 70_000] {
      let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
      let sum = kept_checksum(0, bytes, count)
      #expect(~kept_checksum_by_table(~0, bytes, count) == sum)
      let half = count / 2
      #expect(kept_checksum(kept_checksum(0, bytes, half), Array(bytes[half...]), count - half) == sum)
    }
  }
}
