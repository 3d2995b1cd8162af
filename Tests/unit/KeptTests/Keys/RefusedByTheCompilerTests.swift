// Code that must not compile: types that no store can hold, and values that do not have their key's type.

import Testing

@Suite struct RefusedByTheCompilerTests {
  /// A line that must be rejected ends with a part of the message; every other line must compile.
  private static let program = """
    import Kept

    struct Plain {}
    struct Half: Encodable, Storable {}                     //! does not conform to protocol 'Storable'
    enum Bare: Storable { case one }                        //! does not conform to protocol 'Storable'
    final class Shared: Codable, Storable { var a = 1 }     //! is mutable
    struct Frame: Codable, Storable { var x = 0 }
    enum Theme: String, Storable { case system, dark }

    struct Login: SettingsGroup {
      enum Keys: String, GroupKey { case name }
      let store: Store
    }
    struct Launch: LaunchArgumentEncodable {
      @ArgumentOverride(.volume) var volume: Int?
      @ArgumentOverride(.volume) var text = "loud"          //! Int
      @ArgumentOverride("plain") var plain = Plain()        //! conform to 'Storable'
    }
    func group(_ login: Login, _ stored: TypedStore<Frame>) throws { //! 'KeyedStorable'
      try login.set("Ada", forKey: .name)
      try login.set(Plain(), forKey: .name)                 //! 'Storable'
      try login.set("Ada", forKey: .surname)                //! no member 'surname'
    }

    extension Keys {
      static let volume = Key("audio.volume", default: 50)
      static let theme = Key("theme", default: Theme.system)
      static let frame = Key<Frame?>("window.frame")
      static let names = Key<[String]>("names", default: [])
      static let plain = Key("plain", default: Plain())     //! 'Plain' conform to 'Storable'
      static let plains = Key("n", default: [Plain()])      //! 'Plain' conform to 'Storable'
      static let numbered = Key("n", default: [1: 2])       //! dictionary key type 'String'
      static let letters = Key<Set<Character>?>("n")         //! 'Character' conform to 'Storable'
      static let plainRange = Key<Range<Character>?>("n")    //! 'Character' conform to 'Storable'
      static let anything = Key<[String: Any]?>("n")         //! 'Any'
      static let required = Key<Int>("n")                   //! a key needs a default
      static let bounded = Key("n", default: 50, .range(0...100), .minimum(1), summary: "How loud")
      static let share = Key("n", default: 0.5, .range(0...1))
      static let token = Key<String?>("n", .length(4...64), .pattern("^[a-z]+$"), secret: true)
      static let tags = Key<[String]>("n", default: [], .each(.length(1...40)))
      static let chosen = Key("n", default: Theme.dark, .choices([.dark]))
      static let ranged = Key<String?>("n", .range(0...100))      //! 'range' is for keys of numbers
      static let ranging = Key("n", default: "x", .range(0...9))  //! 'range' is for keys of numbers
      static let matched = Key("n", default: 50, .pattern("x"))   //! 'pattern' is for keys of String
      static let long = Key<Int?>("n", .length(1...2))            //! 'length' is for keys of String and Data
      static let chosing = Key<Int?>("n", .choices(["x"]))        //! 'choices' takes values of the key's own type
      static let truth = Key<Bool?>("n", .minimum(false))         //! 'minimum' is for keys of numbers
    }

    struct Panel {
      @Setting(.volume) var volume
      @Setting(.theme) var theme: Theme
      @Setting(.volume) var louder = 70
      @Setting("balance") var balance = 0.0
      @Setting("name") var name: String?
      @Setting("plain") var plain = Plain()                 //! 'Plain' conform to 'Storable'
      @Setting("number") var number: Int                    //! a setting needs a default
      @Setting(.volume) var text: String                    //! String
    }
    final class Player: Sendable {
      let volume = Setting(.volume)
      @Setting(.theme) var theme                            //! is mutable
    }

    func elsewhere(_ sendable: some Sendable) {}
    func use(_ settings: Store, _ transaction: Transaction) throws {
      settings[.volume] = 70
      settings[.volume] += 1
      settings[.volume] = settings[.volume] * 2
      settings[.frame] = Frame()
      settings[.frame] = nil
      settings[.frame]?.x = 3
      settings[.names].append("a")
      if settings[.theme] == .dark, transaction[.volume] > 3 { transaction[.theme] = .system }
      let maybe: Int? = settings[.volume]
      let text = "\\(settings[.volume]) \\(settings[.frame]?.x ?? 0) \\(maybe ?? 0)"
      try settings.set(text.count, for: .volume)
      if let hidden = try settings.set(5, for: .volume) { print(hidden == .arguments) }
      try settings.declare(.volume, .theme, .frame)
      try transaction.declare(.volume)
      try settings.register(70, for: .volume)
      try settings.register(nil, for: .frame)
      print(try settings.explain(.volume).reason, try settings.layer(of: .theme) as Any)
      _ = Double(try settings.value(for: .volume)) / 2
      let changes = settings.changes(of: .volume)
      Task { for await change in changes { settings[.volume] = change.new } }
      Task { for await change in changes { settings[.theme] = change.new } } //! have different types
      let reader = changes.makeAsyncIterator()
      elsewhere(reader)                                     //! to 'Sendable' is unavailable

      settings[.volume] = "loud"                            //! have different types
      settings[.volume] = 0.5                               //! have different types
      settings[.volume] = nil                               //! 'nil' cannot be assigned
      settings[.theme] = "dark"                             //! have different types
      transaction[.volume] = Plain()                        //! have different types
      let name: String = settings[.volume]                  //! have different types
      try settings.set("loud", for: .volume)                //! String
      try settings.register("loud", for: .volume)           //! String
      try settings.declare(.loudness)                       //! 'loudness'
      try settings.set(nil, for: .volume)                   //! 'nil' is not compatible
      try settings.updateValue(.volume) { $0 += 0.5 }            //! Double
      let size: Double = try settings.value(for: .volume)   //! have different types
      _ = settings[.loudness]                               //! no member 'loudness'
      _ = (name, size)
    }
    """

  @Test func `wrong types and wrong values are refused, each with its reason, and nothing else is`() throws {
    try Compiler.check(Self.program)
  }
  @Test func `a default that may throw is refused, since nothing would catch it`() throws {
    try Compiler.check(
      """
      import Kept
      func stored() throws -> Int { 5 }
      extension Keys {
        static let volume = Key("audio.volume", default: (try? stored()) ?? 50)
        static let louder = Key("audio.volume", default: try stored())  //! non-throwing autoclosure
      }
      struct Panel {
        @Setting("audio.volume") var volume = (try? stored()) ?? 50
        @Setting("audio.volume") var louder = try stored()              //! non-throwing autoclosure
      }
      """)
  }
}
