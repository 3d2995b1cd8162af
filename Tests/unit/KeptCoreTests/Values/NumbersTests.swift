// Numbers convert only if the value is preserved.

@testable import KeptValues
import Testing

@Suite struct ValueNumbersTests {
  @Test(
    arguments: [
      (1, 1), (.int(.min), .min), (.int(.max), .max), (.uint(5), 5), (.uint(.max), nil), (.uint(1 << 63), nil),
      (3.0, 3), (-3.0, -3), (0.0, 0), (-0.0, nil), (3.5, nil), (.double(0x1p62), 1 << 62), (.double(0x1p63), nil),
      (.double(-0x1p63), .min), (.double(.nan), nil), (.double(.infinity), nil), (true, nil), ("1", nil), (.null, nil),
      ([1], nil), (.bytes([1]), nil),
    ] as [(Value, Int64?)])
  func `a value is a signed integer if nothing is lost`(value: Value, integer: Int64?) {
    #expect(value.asInt64 == integer)
  }

  @Test(
    arguments: [
      (1, 1), (-1, nil), (.int(.max), UInt64(Int64.max)), (.uint(.max), .max), (3.0, 3), (-3.0, nil), (-0.0, nil),
      (0.5, nil), (.double(0x1p63), 1 << 63), (.double(0x1p64), nil), (.double(.nan), nil), (false, nil), ("1", nil),
      (.null, nil),
    ] as [(Value, UInt64?)])
  func `a value is an unsigned integer if nothing is lost`(value: Value, integer: UInt64?) {
    #expect(value.asUInt64 == integer)
  }

  @Test(
    arguments: [
      (1, 1.0), (-7, -7.0), (.int(1 << 53), 0x1p53), (.int(1 << 53 + 1), nil), (.int(.max), nil), (.int(.min), -0x1p63),
      (.uint(1 << 63), 0x1p63), (.uint(.max), nil), (1.5, 1.5), (-0.0, -0.0), (true, nil), ("1.5", nil), (.null, nil),
    ] as [(Value, Double?)])
  func `a value is a double if nothing is lost`(value: Value, double: Double?) {
    #expect(value.asDouble?.bitPattern == double?.bitPattern)
  }

  @Test func `NaN stays NaN`() {
    #expect(Value.double(.nan).asDouble?.isNaN == true)
  }

  @Test func `a number is never a bool`() {
    for value: Value in [0, 1, 1.0, "true", .null] { #expect(value.asBool == nil) }
  }
}
