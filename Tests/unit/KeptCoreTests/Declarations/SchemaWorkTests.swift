// Bounds on the work of the keywords, and their messages about refused values.

@testable import KeptSchema
@testable import KeptValues
import Testing

@testable import KeptCore

@Suite(.timeLimit(.minutes(30))) struct `Checking a large value` {
  @Test func `for equal elements takes time in proportion`() throws {
    let declaration = try Declaration(json: #"{"type":"array","uniqueItems":true}"#)
    // A quadratic search would compare 5 * 10^9 pairs.
    var elements = (0..<100_000).map { Value.dictionary(["a": .array([.int(Int64($0)), "text"])]) }
    #expect(declaration.refusal(of: .array(elements)) == nil)
    elements.append(["a": [77_777.0, "text"]])
    #expect(declaration.refusal(of: .array(elements))?.message.contains("/100000") == true)
  }

  @Test func `against many choices takes time in proportion`() throws {
    let choices = (0..<5000).map { "[\($0)]" }.joined(separator: ",")
    let declaration = try Declaration(json: #"{"type":"array","items":{"enum":[\#(choices)]}}"#)
    #expect(declaration.refusal(of: .array((0..<5000).map { [.double(Double($0))] })) == nil)
    #expect(declaration.refusal(of: [[5000.0]])?.code == .invalid)
  }

  @Test func `with an exponential pattern of names ends, as with any pattern`() throws {
    let declaration = try Declaration(json: #"{"type":"object","patternProperties":{"^(a+)+$":true}}"#)
    let name = String(repeating: "a", count: 40) + "b"
    let error = declaration.refusal(of: .dictionary([ExactString(name): 1]))
    #expect(error?.code == .invalid && error?.message.contains("takes too long") == true)
    let names = try Declaration(json: #"{"type":"object","propertyNames":{"pattern":"^(a+)+$"}}"#)
    #expect(names.refusal(of: .dictionary([ExactString(name): 1]))?.message.contains("takes too long") == true)
  }

  @Test func `that is a schema with many exponential patterns ends`() throws {
    let names = (0..<1000).map { Value.string(String(repeating: "a", count: 40) + "b\($0)") }
    let patterns = (0..<300).map { (ExactString("^(a+)+$|\($0)x"), Value.bool(true)) }
    // 300,000 searches of a million steps each, without a limit on their sum.
    var reader = SchemaReader(isSecret: false)
    reader.effort = Pattern.Effort(most: 3_000_000)
    _ = try reader.read(["required": .array(names), "patternProperties": .dictionary(ValueDictionary(patterns))])
    var other = SchemaReader(isSecret: false)
    other.effort = Pattern.Effort(most: 3_000_000)
    #expect(throws: StoreError.self) { try other.read(["pattern": "^((a+)+$|a)", "enum": .array(names)]) }
  }

  @Test func `with many names and many patterns ends`() throws {
    var schema = Schema()
    schema.members = MemberRules()
    for number in 0..<100 {
      let rule = MemberRules.PatternProperty(pattern: try Pattern("\(number)x"), schema: .anything)
      schema.members?.patterns.append(rule)
    }
    let members = Value.dictionary(ValueDictionary((0..<100).map { (ExactString("member\($0)"), 0) }))
    var generous = Admission(isSecret: false)
    #expect(try generous.admit(members, to: schema) == members)
    // Each of the 10,000 searches counts as at least 32 steps.
    var strict = Admission(isSecret: false, effort: Pattern.Effort(most: 300_000))
    let error = #expect(throws: StoreError.self) { try strict.admit(members, to: schema) }
    #expect(error?.code == .invalid && error?.message.contains("takes too long") == true)
  }
}

@Suite(.timeLimit(.minutes(30))) struct `Many texts on which a pattern takes exponential time` {
  private static let pattern = "^(a+)+$|!$"
  /// Needs about a million steps, and is below the limit of one search.
  private static let text = Value.string(String(repeating: "a", count: 17) + "!")

  @Test func `are refused in one value after a few of them`() throws {
    let declaration = try Declaration(["type": "array", "items": ["type": "string", "pattern": .string(Self.pattern)]])
    #expect(declaration.refusal(of: [Self.text]) == nil)
    let error = declaration.refusal(of: .array(Array(repeating: Self.text, count: 150)))
    #expect(error?.code == .invalid && error?.message.contains("takes too long") == true)
    // One of the first elements: each costs as much as a hundred thousand others.
    #expect(["/2", "/3", "/4", "/5", "/6", "/7", "/8", "/9"].contains { error?.message.contains("at \($0) ") == true })
  }

  @Test func `are refused in one import after a few values of them`() throws {
    let keys = 0..<300
    let schema = "{\"type\":\"string\",\"pattern\":\"\(Self.pattern)\"}"
    let declarations = keys.map { "\"k\($0)\":\(schema)" }.joined(separator: ",")
    let values = keys.map { "\"k\($0)\":\(Self.text.json)" }.joined(separator: ",")
    let store = try Store.open("memory:")
    var options = ImportOptions(isDryRun: true, includesDeclarations: true)
    let text = "{\"kept\":1,\"declarations\":{\(declarations)},\"values\":{\(values)}}"
    let report = try store.import(text, options)
    #expect(report.refused.count > 200, "\(report.refused.count)")
    #expect(report.refused.allSatisfy { $0.reason.contains("takes too long") })
    options.isDryRun = false
    #expect(throws: StoreError.self) { try store.import(text, options) }
  }

  @Test func `count with the bytes that are passed over`() throws {
    let declaration = try Declaration(["type": "array", "items": ["type": "string", "pattern": "a+b|!$"]])
    let text = Value.string(String(repeating: "a", count: 5000) + "!")
    #expect(declaration.refusal(of: [text]) == nil)
    #expect(declaration.refusal(of: .array(Array(repeating: text, count: 1000)))?.code == .invalid)
  }

  @Test func `are not the names that many simple patterns look at`() throws {
    let patterns = (0..<100).map { (ExactString("^a\($0)_"), Value.bool(true)) }
    let declaration = try Declaration(["type": "object", "patternProperties": .dictionary(ValueDictionary(patterns))])
    let members = (0..<5000).map { (ExactString("zz\($0)"), Value.int(1)) }
    #expect(declaration.refusal(of: .dictionary(ValueDictionary(members))) == nil)
  }

  @Test func `are not the texts that a simple pattern is found in, however many`() throws {
    let pattern: Value = "^[^@]+@([a-z]+\\.)+[a-z]+$"
    let declaration = try Declaration(["type": "array", "items": ["type": "string", "pattern": pattern]])
    #expect(declaration.refusal(of: .array(Array(repeating: "somebody@mail.example.com", count: 200_000))) == nil)
    let short = try Declaration(json: #"{"type":"array","items":{"type":"string","pattern":"^[ab]$"}}"#)
    #expect(short.refusal(of: .array(Array(repeating: "a", count: 500_000))) == nil)
  }
}

@Suite struct `A refusal by a word` {
  @Test(
    arguments: [
      (#"{"type":"integer","exclusiveMinimum":5}"#, 5, "the value 5 is not above the exclusiveMinimum 5"),
      (#"{"type":"number","exclusiveMaximum":5}"#, 6, "is not below the exclusiveMaximum 5.0"),
      (#"{"type":"integer","multipleOf":5}"#, 7, "the value 7 is not a multiple of 5"),
      (#"{"type":"integer","const":5}"#, 7, "is not the declared constant 5"),
      (#"{"type":"array","minItems":2}"#, [1], "has too few elements (1); the minimum is 2"),
      (#"{"type":"array","maxItems":1}"#, [1, 2], "has too many elements (2); the maximum is 1"),
      (#"{"type":"array","uniqueItems":true}"#, ["a", "b", "a"], "the value \"a\" at /2 is a duplicate"),
      (#"{"type":"object","maxProperties":0}"#, ["a": 1], "has too many members (1); the maximum is 0"),
      (#"{"type":"object","propertyNames":{"maxLength":1}}"#, ["abc": 1], "name \"abc\" has too many characters (3)"),
      (#"{"type":"object","propertyNames":false}"#, ["abc": 1], "the member name \"abc\" is not allowed"),
      (#"{"type":"object","patternProperties":{"^x":{"type":"integer"}}}"#, ["xy": "a"], "\"a\" at /xy is a string"),
    ] as [(String, Value, String)])
  func `gives the reason and the remedy`(text: String, value: Value, reason: String) throws {
    let error = try Declaration(json: text).refusal(of: value)
    #expect(error?.message.contains(reason) == true, "\(error?.message ?? "none")")
  }

  @Test(
    arguments: [
      (#"{"type":"array","uniqueItems":true,"secret":true}"#, ["hush", "hush"]),
      (#"{"type":"array","minItems":7,"secret":true}"#, ["hush", "hush"]),
      (#"{"type":"object","propertyNames":{"maxLength":1},"secret":true}"#, ["hush": 1]),
      (#"{"type":"object","patternProperties":{"^h":{"type":"string"}},"secret":true}"#, ["hush": 1]),
      (#"{"type":"object","patternProperties":{"^h":{"const":"hush"}},"secret":true}"#, ["hush": "x"]),
      (#"{"type":"string","const":"hush","secret":true}"#, "hush2"),
    ] as [(String, Value)])
  func `of a secret quotes nothing`(text: String, value: Value) throws {
    let error = try Declaration(json: text).refusal(of: value)
    #expect(error?.code == .invalid)
    #expect(error?.description.contains("hush") == false, "\(error?.message ?? "none")")
    #expect(error?.description.contains("has 2") == false, "how many there are is a part of the secret")
  }
}
