// Numbers as values: every width, and conversion only if the value is preserved.

import Kept
import Testing

@Suite struct NumberTests {
  private func expectRange<Number: FixedWidthInteger & Codable & Storable>(_ type: Number.Type) throws {
    for number in [Number.min, Number.max, 0, 1, 42] {
      #expect(try Number(stored: number.stored()) == number)
    }
    if let above = Int64(exactly: Number.max)?.addingReportingOverflow(1), !above.overflow {
      #expect(failure(.wrongType) { _ = try Number(stored: .int(above.partialValue)) }.contains("\(type)"))
    }
    if let below = Int64(exactly: Number.min)?.subtractingReportingOverflow(1), !below.overflow {
      #expect(failure(.wrongType) { _ = try Number(stored: .int(below.partialValue)) }.contains("\(type)"))
    }
  }

  @Test func `every integer width keeps its whole range and refuses what lies outside`() throws {
    try expectRange(Int.self)
    try expectRange(Int8.self)
    try expectRange(Int16.self)
    try expectRange(Int32.self)
    try expectRange(Int64.self)
    try expectRange(UInt.self)
    try expectRange(UInt8.self)
    try expectRange(UInt16.self)
    try expectRange(UInt32.self)
    try expectRange(UInt64.self)
  }

  @Test func `only an integer above Int64 max is stored as unsigned`() throws {
    #expect(try UInt64(7).stored() == .int(7))
    #expect(try UInt64.max.stored() == .uint(.max))
    #expect(try UInt64(stored: .uint(.max)) == .max)
    _ = failure(.wrongType) { _ = try Int64(stored: .uint(1 << 63)) }
    _ = failure(.wrongType) { _ = try UInt64(stored: .int(-1)) }
  }

  @Test func `a 128-bit integer is stored within 64 bits and refused beyond`() throws {
    #expect(try Int128(-5).stored() == .int(-5))
    #expect(try UInt128(UInt64.max).stored() == .uint(.max))
    #expect(try Int128(stored: .uint(.max)) == Int128(UInt64.max))
    _ = failure(.invalid) { _ = try Int128.max.stored() }
    _ = failure(.invalid) { _ = try (UInt128(UInt64.max) + 1).stored() }
  }

  @Test(arguments: [0.5, -0.0, .nan, .infinity, 1e19, -1e300])
  func `a double that is not an integer is not read as one`(_ number: Double) {
    #expect(
      failure(.wrongType) { _ = try Int(stored: .double(number)) } == "holds a double that Int cannot hold exactly")
  }

  @Test func `numbers that survive it convert both ways`() throws {
    #expect(try Int(stored: 3.0) == 3)
    #expect(try UInt8(stored: 255.0) == 255)
    #expect(try Double(stored: 1) == 1.0)
    #expect(try Double(stored: .uint(1 << 63)) == 0x1p63)
    #expect(try Float(stored: .int(1 << 24)) == 0x1p24)
    _ = failure(.wrongType) { _ = try Double(stored: .int(1 << 53 + 1)) }
    _ = failure(.wrongType) { _ = try Float(stored: .int(1 << 24 + 1)) }
    _ = failure(.wrongType) { _ = try Float(stored: .double(0.1)) }
  }

  @Test(arguments: [0.1, -0.0, .infinity, -.infinity, .leastNonzeroMagnitude, .greatestFiniteMagnitude])
  func `a double reads back bit for bit`(_ number: Double) throws {
    #expect(try Double(stored: number.stored()).bitPattern == number.bitPattern)
  }

  @Test(arguments: [Float(0.1), -0.0, .infinity, .leastNonzeroMagnitude, .greatestFiniteMagnitude])
  func `a Float reads back bit for bit`(_ number: Float) throws {
    #expect(try Float(stored: number.stored()).bitPattern == number.bitPattern)
  }

  @Test func `NaN is stored, as a Double and as a Float`() throws {
    #expect(try Double(stored: Double.nan.stored()).isNaN)
    #expect(try Float(stored: Float.nan.stored()).isNaN)
    #expect(try Float(stored: .double(.nan)).isNaN)
  }

  @Test func `a bool is never a number, a number never a bool, and text is neither`() {
    #expect(failure(.wrongType) { _ = try Int(stored: true) } == "holds a bool, not an int")
    #expect(failure(.wrongType) { _ = try Double(stored: false) } == "holds a bool, not a double")
    #expect(failure(.wrongType) { _ = try Bool(stored: 1) } == "holds an int, not a bool")
    #expect(failure(.wrongType) { _ = try Int(stored: "1") } == "holds a string, not an int")
    #expect(failure(.wrongType) { _ = try String(stored: 1) } == "holds an int, not a string")
    #expect(failure(.wrongType) { _ = try Bool(stored: "true") } == "holds a string, not a bool")
  }
}
