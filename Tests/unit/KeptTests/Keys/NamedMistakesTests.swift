// The compiler's messages for a key without a default and for a constraint on the wrong type name the mistake.

import Testing

@Suite struct `Mistakes in a key that the compiler names` {
  /// Expects that lines inside `extension Keys` are rejected with the messages that they end with.
  private func check(_ lines: String) throws {
    try Compiler.check(
      """
      import Foundation
      import Kept
      enum Theme: String, Storable { case system, dark }
      struct Frame: Codable {}
      extension Keys {
      \(lines)
      }
      """)
  }

  @Test func `a key without a default needs one`() throws {
    try check(
      """
      static let plain = Key<Int>("v")                              //! a key needs a default
      static let theme = Key<Theme>("v", .choices([.dark]))         //! a key needs a default
      static let typed: Key<Int> = Key("v", summary: "How loud")    //! a key needs a default
      static let frame = Key<Frame>("v", through: .json)            //! a key needs a default
      static let maybe = Key<Int?>("v", .range(0...9), summary: "How loud", secret: true)
      static let maybeTyped: Key<Int?> = Key("v")
      static let maybeFrame = Key<Frame?>("v", through: .json)
      """)
  }

  @Test func `a setting without a default needs one`() throws {
    try Compiler.check(
      """
      import Kept
      struct Panel {
        @Setting("number") var number: Int                          //! a setting needs a default
        @Setting("number") var maybe: Int?
        @Setting("number") var volume = 50
      }
      """)
  }

  @Test func `a length is for text and bytes`() throws {
    try check(
      """
      static let number = Key("n", default: 5, .length(1...2))      //! 'length' is for keys of String and Data
      static let maybe = Key<Int?>("n", .length(1...2))             //! 'length' is for keys of String and Data
      static let list = Key<[Int]>("n", default: [], .length(1...2)) //! 'length' is for keys of String and Data
      static let bytes = Key<Data?>("n", .length(1...2))
      """)
  }

  @Test func `a pattern is for text`() throws {
    try check(
      """
      static let number = Key("n", default: 5, .pattern("x"))       //! 'pattern' is for keys of String
      static let theme = Key<Theme?>("n", .pattern("x"))            //! 'pattern' is for keys of String
      static let bytes = Key<Data?>("n", .pattern("x"))             //! 'pattern' is for keys of String
      """)
  }

  @Test func `a range is for numbers of the key's type`() throws {
    try check(
      """
      static let text = Key("n", default: "x", .range(0...9))       //! 'range' is for keys of numbers
      static let maybe = Key<String?>("n", .range(0...9))           //! 'range' is for keys of numbers
      static let number = Key<Int?>("n", .range(0.5...2))           //! 'range' is for keys of numbers
      static let share = Key("n", default: 0.5, .range(0...1))
      """)
  }

  @Test func `a minimum is for numbers of the key's type`() throws {
    try check(
      """
      static let truth = Key<Bool?>("n", .minimum(false))           //! 'minimum' is for keys of numbers
      static let date = Key<Date?>("n", .minimum(Date.distantPast)) //! 'minimum' is for keys of numbers
      static let number = Key("n", default: 5, .minimum("x"))       //! 'minimum' is for keys of numbers
      """)
  }

  @Test func `a maximum is for numbers of the key's type`() throws {
    try check(
      """
      static let text = Key("n", default: "x", .maximum(3))         //! 'maximum' is for keys of numbers
      static let number = Key("n", default: 5, .maximum("x"))       //! 'maximum' is for keys of numbers
      """)
  }

  @Test func `choices are of the key's type`() throws {
    try check(
      """
      static let number = Key<Int?>("n", .choices(["x"]))           //! 'choices' takes values of the key's own type
      static let text = Key("n", default: "x", .choices([1, 2]))    //! 'choices' takes values of the key's own type
      """)
  }

  @Test func `rules for elements are for arrays and dictionaries, and suit the elements`() throws {
    try check(
      """
      static let number = Key("n", default: 5, .each(.range(0...9)))        //! 'each' is for keys of arrays
      static let text = Key<String?>("n", .each(.length(0...9)))            //! 'each' is for keys of arrays
      static let list = Key<[Int]>("n", default: [], .each(.length(0...9))) //! 'length' is for keys of String
      static let object = Key<[String: Int]?>("n", .each(.pattern("x")))    //! 'pattern' is for keys of String
      """)
  }
}
