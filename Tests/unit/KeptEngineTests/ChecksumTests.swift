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
    for count in 0..<100 {
      let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
      let sum = kept_checksum(0, bytes, count)
      #expect(~kept_checksum_by_table(~0, bytes, count) == sum)
      let half = count / 2
      #expect(kept_checksum(kept_checksum(0, bytes, half), Array(bytes[half...]), count - half) == sum)
    }
  }
}
