// survivor [--synchronize]: UserDefaults of Foundation, in $XDG_CONFIG_HOME; executes the commands of
// safety/survivor.py.
import Foundation

func say(_ line: String) {
  // One system call for each line, so that a kill does not split one; and one line, whatever damage has put into it.
  let newline = UInt8(ascii: "\n")
  FileHandle.standardOutput.write(Data(line.utf8.map { $0 == newline ? UInt8(ascii: " ") : $0 } + [newline]))
}

func padded(_ number: Int, to width: Int) -> String {
  let digits = String(number)
  return String(repeating: "0", count: max(0, width - digits.count)) + digits
}

func name(_ number: Int) -> String { "setting-" + padded(number % 1000, to: 4) }

struct Survivor {
  let defaults: UserDefaults
  let synchronizes = CommandLine.arguments.contains("--synchronize")

  /// Sets a number, and prints it, or the error.
  func set(_ number: Int, width: Int, pause: Int) -> Bool {
    defaults.set(padded(number, to: width), forKey: name(number))
    let isDone = !synchronizes || defaults.synchronize()
    say(isDone ? String(number) : "failed synchronize() returned false")
    if pause > 0 { usleep(UInt32(pause)) }
    return isDone
  }

  func get(_ index: Int) {
    say(defaults.string(forKey: name(index)).map { "= " + $0 } ?? "absent")
  }

  func obey(_ line: String) {
    let numbers = line.split(separator: " ").compactMap { Int($0) }
    if line.hasPrefix("set") {
      _ = (numbers[0]..<numbers[0] + numbers[1]).allSatisfy { set($0, width: numbers[2], pause: numbers[3]) }
    } else {
      (0..<numbers[0]).forEach(get)
    }
    say("done")
  }
}

guard ProcessInfo.processInfo.environment["XDG_CONFIG_HOME"] != nil, let suite = UserDefaults(suiteName: "survivor")
else {
  FileHandle.standardError.write(Data("survivor: give it a folder of its own in XDG_CONFIG_HOME\n".utf8))
  exit(2)
}
let survivor = Survivor(defaults: suite)
say("opened")
while let line = readLine() { survivor.obey(line) }
