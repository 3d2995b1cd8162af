// Configurations of a program to be launched: their order, what they leave out, and that copies are independent.

import Kept
import Testing

private enum Theme: String, Storable { case system, dark }

extension Keys {
  fileprivate static let volume = Key("audio.volume", default: 50)
  fileprivate static let theme = Key("theme", default: Theme.system)
  fileprivate static let name = Key<String?>("name")
}

private struct PlayerLaunch: LaunchArgumentEncodable {
  @ArgumentOverride(.theme) var theme: Theme?
  var unrelated = 3
  @ArgumentOverride(.volume) var volume = 30
  @ArgumentOverride(.name) var name: String?
  @ArgumentOverride("debug.trace") var trace: Bool?
  @ArgumentOverride("debug.level") var level = -1
  var additionalLaunchArguments: [String] { ["--verbose"] }
}

private class Base: LaunchArgumentEncodable {
  @ArgumentOverride(.volume) var volume = 30
}

private final class Derived: Base {
  @ArgumentOverride(.name) var name: String? = "Ada"
}

@Suite struct ArgumentOverrideTests {
  private let volume = ["-audio.volume", "<integer>30</integer>"]
  private let level = ["-debug.level", "<integer>-1</integer>"]

  @Test func `properties are arguments as they are declared, nil is omitted, and others follow`() throws {
    var launch = PlayerLaunch()
    #expect(try launch.encodeLaunchArguments() == volume + level + ["--verbose"])
    launch.trace = true
    launch.name = "Ada"
    launch.theme = .dark
    let theme = ["-theme", "<string>dark</string>"]
    let rest = ["-name", "<string>Ada</string>", "-debug.trace", "<true/>"] + level + ["--verbose"]
    #expect(try launch.encodeLaunchArguments() == theme + volume + rest)
    launch.theme = nil
    #expect(try launch.encodeLaunchArguments() == volume + rest)
  }

  @Test func `a copy of a configuration is independent of it`() throws {
    let original = PlayerLaunch()
    var copy = original
    copy.volume = 70
    copy.name = "Ada"
    #expect(original.volume == 30 && original.name == nil)
    #expect(try original.encodeLaunchArguments() == volume + level + ["--verbose"])
    #expect(try copy.encodeLaunchArguments() != original.encodeLaunchArguments())
  }

  @Test func `a property gives its key and its value`() throws {
    var launch = PlayerLaunch()
    #expect(launch.$theme.key == "theme")
    #expect(try launch.$theme.overridingValue() == nil)
    launch.theme = .dark
    #expect(try launch.$theme.overridingValue() == "dark")
    #expect(launch.argumentOverrides.map(\.key) == ["theme", "audio.volume", "name", "debug.trace", "debug.level"])
  }

  @Test func `those of a superclass come first`() throws {
    #expect(try Derived().encodeLaunchArguments() == volume + ["-name", "<string>Ada</string>"])
  }

  @Test func `of two properties with one key the later one counts, unless it is nil`() throws {
    struct Twice: LaunchArgumentEncodable {
      @ArgumentOverride(.volume) var first = 30
      @ArgumentOverride(.volume) var second: Int?
    }
    var launch = Twice()
    #expect(try launch.encodeLaunchArguments() == volume)
    launch.second = 31
    #expect(try launch.encodeLaunchArguments() == ["-audio.volume", "<integer>31</integer>"])
  }

  @Test func `a value that cannot be an argument is an error with its key`() {
    struct Wrong: LaunchArgumentEncodable {
      @ArgumentOverride("big") var number = Int128.max
      @ArgumentOverride("") var nameless = 1
    }
    var launch = Wrong()
    #expect(failure(.invalid) { _ = try launch.encodeLaunchArguments() }.hasPrefix("\"big\": "))
    launch.number = 1
    _ = failure(.invalid) { _ = try launch.encodeLaunchArguments() }
  }
}
