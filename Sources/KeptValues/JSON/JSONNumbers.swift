// The numbers that a JSON text may contain: 64-bit integers, and doubles that do not round to zero or infinity.

extension JSONScanner {
  /// Skips a number.
  ///
  /// With a point or an exponent it is a double, otherwise an integer.
  mutating func scanNumber() throws(StoreError) {
    let start = position
    let isNegative = skip("-")
    if next == "I" { throw notANumber(at: start) }
    let whole = try scanDigits()
    if whole.count > 1, bytes[whole.lowerBound] == UInt8(ascii: "0") {
      throw invalid(at: whole.lowerBound, "a number has a leading 0; leave it out")
    }
    var significant = start..<position
    var isInteger = true
    if skip(".") {
      isInteger = false
      _ = try scanDigits()
      significant = start..<position
    }
    if skip("e") || skip("E") {
      isInteger = false
      if !skip("+") { _ = skip("-") }
      _ = try scanDigits()
    }
    if isInteger {
      try checkInteger(whole, isNegative: isNegative, start: start)
    } else {
      var double = 0.0
      do throws(StoreError) { double = try self.double(start..<position, significant: significant) } catch {
        try passOutOfRange(error)
      }
      // Nothing is built from a value with an obstacle.
      guard obstacle == nil else { return }
      try Memory.makeRoom(in: &findings.doubles, to: Self.purpose)
      findings.doubles.append(double)
    }
  }

  private mutating func scanDigits() throws(StoreError) -> Range<Int> {
    let start = position
    while let next, "0"..."9" ~= next { position += 1 }
    guard position > start else { throw invalid("expected a digit in a number") }
    return start..<position
  }

  /// The reason for another program's number says nothing about the forms of Kept's JSON.
  private mutating func passOutOfRange(_ error: StoreError) throws(StoreError) {
    try pass(isForeign ? StoreError(.invalid, "a number does not fit into 64 bits; write it as a string") : error)
  }

  private mutating func checkInteger(_ digits: Range<Int>, isNegative: Bool, start: Int) throws(StoreError) {
    guard let magnitude = magnitude(digits) else {
      return try passOutOfRange(
        invalid(at: start, "an integer has more than 64 bits; write a double such as 1e20, or a string"))
    }
    if isNegative && magnitude == 0 {
      // In RFC 8259 it is a number; most programs read it as -0.0.
      if isForeign { return }
      throw invalid(at: start, "an integer cannot be negative zero; write 0, or the double -0.0")
    }
    if isNegative && magnitude > Int64.min.magnitude {
      return try passOutOfRange(
        invalid(at: start, "an integer is below \(Int64.min); write a double such as -1e19, or a string"))
    }
    if !isNegative && magnitude > Int64.max && !isForeign {
      throw invalid(
        at: start, "a bare integer is above \(Int64.max); write {\"$numberULong\":\"…\"} with its digits")
    }
  }

  /// The number that digits represent; nil beyond 64 bits.
  private func magnitude(_ digits: Range<Int>) -> UInt64? {
    var magnitude: UInt64 = 0
    for index in digits {
      let (tens, overflow) = magnitude.multipliedReportingOverflow(by: 10)
      let (sum, carry) = tens.addingReportingOverflow(UInt64(bytes[index] - UInt8(ascii: "0")))
      if overflow || carry { return nil }
      magnitude = sum
    }
    return magnitude
  }

  /// The double that a text represents; `significant` is its part before the exponent.
  private func double(_ text: Range<Int>, significant: Range<Int>) throws(StoreError) -> Double {
    // Swift's conversion rounds correctly and uses a decimal point in every locale.
    let value = Double(String(decoding: UnsafeBufferPointer(rebasing: bytes[text]), as: UTF8.self))
    let isZero = significant.allSatisfy { !(UInt8(ascii: "1")...UInt8(ascii: "9") ~= bytes[$0]) }
    guard let value, value.isFinite, value != 0 || isZero else {
      throw invalid(
        at: text.lowerBound,
        "a number is out of the range of a double; write 0.0, {\"$numberDouble\":\"Infinity\"} or a string")
    }
    return value
  }
}
