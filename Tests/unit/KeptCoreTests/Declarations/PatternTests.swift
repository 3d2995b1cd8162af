// Patterns: those that do not compile, and those that would take too long.

@testable import KeptSchema
@testable import KeptValues
import Testing

@Suite struct `A pattern` {
  @Test(
    arguments: [
      ("(", "at byte 1"), ("a{2,1}", "at byte"), ("[a", "at byte 2"), ("*", "at byte 0"), ("\\", "at byte 1"),
      ("(?<n>a)(?<n>b)", "at byte"), ("\\C", "at byte 2"), ("(?<=a*)b", "at byte"), ("ä(", "at byte 3"),
      ("((((a{1000}){1000}){1000}){1000})", "at byte"),
    ])
  func `that does not compile is refused with its byte`(pattern: String, place: String) {
    let error = #expect(throws: StoreError.self) { try Declaration(["type": "string", "pattern": .string(pattern)]) }
    #expect(error?.code == .invalid)
    #expect(error?.message.contains("does not compile") == true)
    #expect(error?.message.contains("/pattern") == true)
    #expect(error?.message.contains(place) == true, "\(error?.message ?? "")")
  }

  @Test func `has at most 1024 bytes`() throws {
    let longest = String(repeating: "a", count: 1024)
    _ = try Declaration(["type": "string", "pattern": .string(longest)])
    let error = #expect(throws: StoreError.self) {
      try Declaration(["type": "string", "pattern": .string(longest + "a")])
    }
    #expect(error?.code == .invalid)
  }

  @Test func `may be empty, and then is found everywhere`() throws {
    let declaration = try Declaration(["type": "string", "pattern": ""])
    #expect(try declaration.admitted("") == "")
    #expect(try declaration.admitted("a\0b") == "a\0b")
  }

  @Test func `matches what follows a NUL`() throws {
    let declaration = try Declaration(["type": "string", "pattern": "^a\\x00b$"])
    #expect(try declaration.admitted("a\0b") == "a\0b")
    #expect(declaration.refusal(of: "a\0c")?.code == .invalid)
  }

  @Test(
    arguments: [
      ("(a+)+$", 100_000), ("(a+)+$", 5_000_000), ("(a|aa)+$", 100_000), ("a+b", 16_000_000),
      ("^(?:a(?=a*+))*b", 1_000_000), ("(?:a?){30}a{30}$", 100_000), ("(a*)*$", 1_000_000), ("(.)(?1)*$", 1_000_000),
      ("^(a|b|ab)*c", 1_000_000), ("(?=(a+))+\\1[bc]", 1_000_000),
    ])
  func `that would run too long is stopped quickly`(pattern: String, length: Int) throws {
    let declaration = try Declaration(["type": "string", "pattern": .string(pattern)])
    let text = Value.string(String(repeating: "a", count: length) + "!")
    let clock = ContinuousClock()
    var refusal: StoreError?
    let time = clock.measure { refusal = declaration.refusal(of: text) }
    #expect(refusal?.code == .invalid)
    #expect(refusal?.message.contains("takes too long") == true, "\(refusal?.message ?? "")")
    #expect(time < .seconds(60), "and not for ever")
  }

  @Test(arguments: ["^[a-z]*$", "^a", "^[^0-9]*$", "z$", "^(?:[a-y]+|z)+$"])
  func `that is simple searches the longest text`(pattern: String) throws {
    let declaration = try Declaration(["type": "string", "pattern": .string(pattern)])
    let text = Value.string(String(repeating: "a", count: Limits.valueBytes - 1) + "z")
    #expect(try declaration.admitted(text) == text)
  }

  @Test func `searches in many threads at once`() async throws {
    let declaration = try Declaration(["type": "string", "pattern": "^(\\w+)-(\\d+)$"])
    await withTaskGroup(of: Bool.self) { group in
      for task in 0..<8 {
        group.addTask {
          (0..<500).allSatisfy { turn in
            let (good, bad) = (Value.string("a\(task)-\(turn)"), Value.string("a\(task)\(turn)"))
            return declaration.refusal(of: good) == nil && declaration.refusal(of: bad) != nil
          }
        }
      }
      for await isRight in group { #expect(isRight) }
    }
  }
}
