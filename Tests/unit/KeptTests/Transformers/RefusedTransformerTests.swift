// Transformers that do not fit together do not compile.

import Testing

@Suite struct `The compiler` {
  private static let program = """
    import Foundation
    import Kept

    struct Frame: Codable { var x = 0 }
    struct Plain { var x = 0 }
    enum Level: Int { case low, high }

    let text = Transformer<Data, String>.custom(
      encode: { $0.base64EncodedString() }, decode: { Data(base64Encoded: $0) ?? Data() })

    func use(_ settings: Store) throws {
      let frame: Handle<Frame?> = try settings.handle("frame", through: .json)
      let level: Handle<Level?> = try settings.handle("level", through: .rawValue)
      let levels: Handle<[Level]?> = try settings.handle("levels", through: .elements(.rawValue))
      let chain: Transformer<Frame, String> = Transformer<Frame, Data>.json.appending(text)
      let other: Handle<Frame?> = try settings.handle("other", through: chain)
      frame << Frame()
      frame << nil
      level.value = .high
      let volume = try settings.handle(Key("volume", default: 50))
      volume << 3
      volume << nil

      volume << "loud"                                                 //! String
      volume.value = nil                                               //! 'nil' cannot be assigned
      level.value = 2                                                  //! 'Int'
      _ = text.appending(text)                                         //! 'Transformer<String,
      _ = Transformer<Level, Int>.rawValue.appending(text)             //! 'Transformer<Int,
      let plain: Handle<Plain?> = try settings.handle("p", through: .json) //! property 'json'
      _ = volume.map(text)                                             //! 'map(
      _ = (levels, other, plain)
    }
    """

  @Test func `refuses transformers whose types do not meet at the joint`() throws {
    try Compiler.check(Self.program)
  }
}
