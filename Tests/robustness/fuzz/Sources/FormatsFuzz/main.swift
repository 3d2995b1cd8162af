// Properties of every sequence of bytes that `kept import` reads in any format: the reader does not crash, errors have
// a sentence and an offset inside the text, if any, and accepted text yields keys, each once, with values that can be
// stored. What the program `kept-formats` prints about it is read back as it was.
//
// The first byte of an input selects the format; the rest is the file.

import CFuzzer
import FormatLibraries
import Formats
import Kept

func check(_ holds: Bool, _ property: StaticString) {
  // libFuzzer detects a finding by the crash, and keeps the input that caused it.
  if !holds { fatalError("broken: \(property)") }
}

/// The formats that a reader of the command reads.
let formats: [Format] = [.propertyList, .toml, .yaml, .env, .ini, .nestedJSON]
let whole: Set = [ExactString("whole"), ExactString("a.b")]

func readAnything(_ bytes: [UInt8], as format: Format) {
  _ = try? Format.found(in: bytes, named: "-")
  if format == .nestedJSON { return markAnything(bytes) }
  let reading = Reading(format, whole: whole)
  do throws(StoreError) {
    let found = try reading.needsLibrary ? reading.settingsByLibrary(of: bytes) : reading.settings(of: bytes)
    let names = found.settings.map { ExactString($0.name) }
    check(Set(names).count == names.count, "each key is once")
    for setting in found.settings {
      check((try? KeyName(setting.name)) != nil, "a name can be a key")
      if case .value(let value) = setting.content {
        check(value != .null, "a value is not null")
        check((try? Value(json: value.json)) != nil, "a value has a form in JSON")
      }
    }
    check(found.notes.allSatisfy { !$0.place.isEmpty && !$0.reason.isEmpty }, "a note has a place and a reason")
    let again = try FoundSettings(lines: Array(found.lines.utf8), size: bytes.count)
    check(again.lines == found.lines, "the lines are read back as they were")
  } catch {
    check(error.code == .invalid || error.code == .tooLarge, "a refusal is invalid or too large")
    check(error.offset.map { 0...(4 * bytes.count) ~= $0 } ?? true, "a refusal has an offset in the decoded text")
    check(!error.message.isEmpty, "a refusal has a sentence")
  }
}

/// Sound JSON is sound with its marks.
func markAnything(_ bytes: [UInt8]) {
  guard let text = try? PlainText(bytes) else { return }
  let marked = try? NestedJSON(JSONComments.removed(from: text), whole: whole)
  guard case .dictionary? = try? Value(json: text.string) else { return }
  check(marked != nil, "an object is marked")
  check((try? Value(json: String(decoding: marked?.json ?? [], as: UTF8.self))) != nil, "marked JSON is JSON")
}

var count = CommandLine.argc
var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
let status = LLVMFuzzerRunDriver(&count, &arguments) { data, size in
  guard let data, size > 0, case let index = Int(data[0] & 7), formats.indices.contains(index) else { return 0 }
  readAnything(Array(UnsafeBufferPointer(start: data + 1, count: size - 1)), as: formats[index])
  return 0
}
