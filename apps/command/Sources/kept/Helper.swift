// Runs another program with a text on its standard input, and collects what it prints.

import Glibc
import Kept

enum Helper {
  struct Done {
    /// The exit status; nil if a signal ended it.
    let status: Int32?
    let out: [UInt8]
    let err: [UInt8]
  }

  /// - Parameter program: a path, or a name that is looked for in `PATH`.
  /// Returns nil if there is no such program.
  static func run(_ program: String, _ arguments: [String], input: [UInt8]) throws(StoreError) -> Done? {
    var pipes: [Pipe] = []
    defer { for pipe in pipes { pipe.closeBoth() } }
    for _ in 0...2 { pipes.append(try Pipe()) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for (number, end) in [pipes[0].reading, pipes[1].writing, pipes[2].writing].enumerated() {
      posix_spawn_file_actions_adddup2(&actions, end, Int32(number))
    }
    var words = ([program] + arguments).map { strdup($0) } + [nil]
    defer { for word in words { free(word) } }
    var process: pid_t = 0
    let failure = posix_spawnp(&process, program, &actions, nil, &words, environ)
    if failure == ENOENT { return nil }
    guard failure == 0 else {
      throw StoreError(.unavailable, "\(program) cannot be started: \(String(cString: strerror(failure)))")
    }
    pipes[0].closeReading()
    pipes[1].closeWriting()
    pipes[2].closeWriting()
    let (out, err) = exchange(input, &pipes)
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    return Done(status: status & 0x7F == 0 ? status >> 8 & 0xFF : nil, out: out, err: err)
  }

  /// Writes the input and reads both outputs, whichever the program is ready for, until it has closed them.
  private static func exchange(_ input: [UInt8], _ pipes: inout [Pipe]) -> (out: [UInt8], err: [UInt8]) {
    var (rest, collected): (ArraySlice<UInt8>, [[UInt8]]) = (input[...], [[], []])
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    // A write that waited would keep the outputs from being read.
    _ = fcntl(pipes[0].writing, F_SETFL, O_NONBLOCK)
    while pipes[1].reading >= 0 || pipes[2].reading >= 0 {
      if rest.isEmpty { pipes[0].closeWriting() }
      var polled = [
        pollfd(fd: pipes[0].writing, events: Int16(POLLOUT), revents: 0),
        pollfd(fd: pipes[1].reading, events: Int16(POLLIN), revents: 0),
        pollfd(fd: pipes[2].reading, events: Int16(POLLIN), revents: 0),
      ]
      guard poll(&polled, nfds_t(polled.count), -1) >= 0 || errno == EINTR else { break }
      if polled[0].revents != 0 {
        let count = rest.withUnsafeBytes { write(pipes[0].writing, $0.baseAddress, $0.count) }
        // The program may end without reading everything.
        if count > 0 { rest = rest.dropFirst(count) } else if errno != EAGAIN, errno != EINTR { rest = [] }
      }
      for number in 1...2 where polled[number].revents != 0 {
        let count = read(pipes[number].reading, &buffer, buffer.count)
        if count > 0 {
          collected[number - 1] += buffer[..<count]
        } else if count == 0 || errno != EINTR {
          pipes[number].closeReading()
        }
      }
    }
    return (collected[0], collected[1])
  }

  /// Both ends of a pipe; -1 for one that is closed.
  private struct Pipe {
    private(set) var reading: Int32
    private(set) var writing: Int32

    init() throws(StoreError) {
      var ends: [Int32] = [-1, -1]
      guard pipe(&ends) == 0 else {
        throw StoreError(.unavailable, "a pipe cannot be created: \(String(cString: strerror(errno)))")
      }
      for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
      (reading, writing) = (ends[0], ends[1])
    }

    mutating func closeReading() {
      if reading >= 0 { close(reading) }
      reading = -1
    }

    mutating func closeWriting() {
      if writing >= 0 { close(writing) }
      writing = -1
    }

    func closeBoth() { for end in [reading, writing] where end >= 0 { close(end) } }
  }

  /// The path of this program; "kept" if it is not known.
  static let path: String = {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/self/exe", &buffer, buffer.count)
    return count > 0 ? String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self) : "kept"
  }()

  /// A program that is installed with this one and is not for people: in `../libexec/kept`, or in the same folder.
  static func part(_ name: String) -> String {
    guard let bin = path.halves(atLast: "/")?.before, let prefix = bin.halves(atLast: "/")?.before else { return name }
    let installed = "\(prefix)/libexec/kept/\(name)"
    return access(installed, X_OK) == 0 ? installed : sibling(name)
  }

  /// A program in the folder of this one, else its name, which is looked for in `PATH`.
  static func sibling(_ name: String) -> String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return name }
    let sibling = String(path[...slash]) + name
    return access(sibling, X_OK) == 0 ? sibling : name
  }
}
