// Starts the browser, another program that takes the place of this one and gets its words unread.

import Glibc
import Kept

enum Browser {
  /// The first word that asks for it.
  static let command = "browse"
  private static let program = "kept-browse"

  /// Another project on PyPI has the name `kept`.
  private static let pip = "pip install kept_settings-*.whl kept_browse-*.whl"
  private static let pipInCheckout = "pip install . ./apps/browse"

  /// How to install it, for the help.
  static let installing = """
    wheel:     \(pip)
    checkout:  \(pipInCheckout)
    """

  /// Returns only if the first word is another command, or if help is requested and there is no browser.
  ///
  /// Call it before signals and streams are changed: the browser inherits them.
  static func startIfAsked() {
    guard CommandLine.argc > 1, let word = CommandLine.unsafeArgv[1], strcmp(word, command) == 0 else { return }
    checkCaller()
    let words = (2..<Int(CommandLine.argc)).map { CommandLine.unsafeArgv[$0] }
    become([program], words)
    let reason = errno
    // Without -P, Python would run what lies in the working folder.
    if isModule { become(["python3", "-P", "-m", "kept_browse"], words) }
    if words.contains(where: { $0.map { strcmp($0, "--help") == 0 || strcmp($0, "-h") == 0 } == true }) { return }
    Failure.end(StoreError(.unavailable, explanation(reason)))
  }

  /// Returns only if the program cannot be started.
  private static func become(_ command: [String], _ words: [UnsafeMutablePointer<CChar>?]) {
    let arguments = command.map { strdup($0) } + words + [nil]
    execvp(command[0], arguments)
  }

  /// Whether Python has the browser.
  ///
  /// One that it has but cannot import reports the error itself.
  private static var isModule: Bool {
    let script = """
      import importlib.util
      try: found = importlib.util.find_spec("kept_browse.__main__")
      except ModuleNotFoundError: found = None
      except Exception: found = True
      raise SystemExit(found is None)
      """
    return Shell.run("python3 -P -c '\(script)' </dev/null >/dev/null 2>&1") == 0
  }

  /// Ends the program if the browser has started it, and would be started again without end.
  private static func checkCaller() {
    // A script that is the browser has the number of the process that has become it, or is the parent of this one.
    let mark = "KEPT_BROWSER_PROCESS"
    if let marked = Environment.variable(mark).flatMap({ pid_t($0) }),
      [getpid(), getppid()].contains(marked)
    {
      let path = path ?? program
      Failure.end(
        StoreError(
          .unavailable, "\(path) runs kept browse, which starts it again; change it to run python3 -m kept_browse"))
    }
    setenv(mark, String(getpid()), 1)
    // It imports files by this command.
    setenv("KEPT_COMMAND", Helper.path, 1)
  }

  /// The error when no program could be started.
  private static func explanation(_ reason: Int32) -> String {
    let remedy = "\(pip), or in a checkout \(pipInCheckout)"
    guard let path else { return "the browser is a Python program that is not installed; install it: \(remedy)" }
    let problem =
      reason == ENOENT ? "the interpreter that its first line names does not exist" : String(cString: strerror(reason))
    return "\(path) cannot be started: \(problem); install it again: \(remedy)"
  }

  /// The first file in `PATH` that has the program's name, whether it can be started or not.
  private static var path: String? {
    let folders = (Environment.variable("PATH") ?? "").parts(at: ":").filter { !$0.isEmpty }
    return folders.map { "\($0)/\(program)" }.first(where: File.isRegular)
  }
}
