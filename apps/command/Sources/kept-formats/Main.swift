// The part of `kept import` that reads property lists, TOML and YAML, in a process whose memory and time are limited,
// and the part of `kept generate` that writes source files and pages.
//
// It is a program of its own because of its size: Foundation and its data of Unicode are larger than all of `kept`.

import FormatLibraries
import Formats
import Generation
import Glibc
import Kept

@main
enum KeptFormats {
  static func main() {
    if CommandLine.argc > 1, let word = CommandLine.unsafeArgv[1], strcmp(word, "generate") == 0 { generate() }
    guard CommandLine.argc == 2,
      let format = CommandLine.unsafeArgv[1].flatMap({ Format(rawValue: String(cString: $0)) })
    else {
      endUsage()
    }
    let request = standardInput()
    limit(forBytes: request.count)
    let lines: String
    do throws(StoreError) {
      let (reading, bytes) = try Reading.requested(format, request)
      lines = try reading.settingsByLibrary(of: bytes).lines
    } catch {
      lines = FoundSettings.line(error)
    }
    exit(write(lines, to: 1) ? 0 : 1)
  }

  private static func endUsage() -> Never {
    _ = write("kept-formats: this program is part of kept import and kept generate; run those\n", to: 2)
    exit(64)
  }

  /// `generate TARGET NAME [KEY NAME]...` or `generate FORMAT NAME [OPTION VALUE]...`, with the list of declarations on
  /// standard input.
  ///
  /// Ends with 0 and the text, or with 3 and a sentence on standard error.
  private static func generate() -> Never {
    let words = Array(CommandLine.arguments.dropFirst(2))
    guard words.count >= 2, words.count.isMultiple(of: 2) else { endUsage() }
    do throws(StoreError) {
      var names: [KeyName: String] = [:]
      for index in stride(from: 2, to: words.count, by: 2) { names[try KeyName(words[index])] = words[index + 1] }
      let list = try DeclarationList(json: String(decoding: standardInput(), as: UTF8.self))
      if let target = Target(rawValue: words[0]) {
        exit(write(try target.text(of: list, called: words[1], names), to: 1) ? 0 : 1)
      }
      guard let format = PageFormat(rawValue: words[0]) else { endUsage() }
      exit(write(try format.text(of: list, PageOptions(name: words[1], names)), to: 1) ? 0 : 1)
    } catch {
      _ = write(error.description, to: 2)
      exit(3)
    }
  }

  private static func write(_ text: String, to descriptor: Int32) -> Bool {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count > 0 { rest = rest.dropFirst(count) } else if errno != EINTR { return false }
    }
    return true
  }

  private static func standardInput() -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = read(0, &buffer, buffer.count)
      if count > 0 { bytes += buffer[..<count] } else if count == 0 || errno != EINTR { return bytes }
    }
  }

  /// Far more than any sound file of this size takes.
  private static func limit(forBytes count: Int) {
    for (resource, most) in [
      (RLIMIT_AS, 1 << 30 + 256 * count), (RLIMIT_CPU, 2 + count >> 16), (RLIMIT_CORE, 0),
    ] {
      var limit = rlimit(rlim_cur: rlim_t(most), rlim_max: rlim_t(most))
      setrlimit(__rlimit_resource_t(resource.rawValue), &limit)
    }
  }
}
