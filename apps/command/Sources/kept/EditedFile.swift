// The file that an editor changes, readable for its owner alone.

import Glibc
import Kept

/// What the handler of signals reads: the path of the file, how it was before the editor, and the message about it.
nonisolated(unsafe) private var openPath: UnsafeMutablePointer<CChar>?
nonisolated(unsafe) private var openStatus = stat()
nonisolated(unsafe) private var openMessage: UnsafeMutablePointer<CChar>?

struct EditedFile {
  private let path: String
  private let original: [UInt8]
  private let hasSecrets: Bool

  init(_ text: String, hasSecrets: Bool) throws(StoreError) {
    let folder =
      Environment.variable("XDG_RUNTIME_DIR") ?? Environment.variable("TMPDIR") ?? "/tmp"
    var template = Array("\(folder)/kept-XXXXXX.json".utf8CString)
    let descriptor = mkstemps(&template, 5)
    guard descriptor >= 0 else {
      throw StoreError(.unavailable, "cannot create a file in \(folder): \(String(cString: strerror(errno)))")
    }
    path = template.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
    (original, self.hasSecrets) = (Array(text.utf8), hasSecrets)
    defer { close(descriptor) }
    do throws(StoreError) { try File.write(text, to: descriptor, path) } catch {
      remove()
      throw error
    }
  }

  /// Runs `body`; a signal that ends the program removes the file if its text was not changed, and else says where it
  /// is.
  func whileOpen(_ body: () throws -> Void) throws {
    openPath = strdup(path)
    openMessage = strdup("kept: terminated by a signal\(place)\n")
    stat(path, &openStatus)
    let ending: __sighandler_t = { signal in
      var status = stat()
      let isThere = openPath.map { stat($0, &status) == 0 } ?? false
      if isThere, let openPath, status.st_ino == openStatus.st_ino,
        status.st_mtim.tv_sec == openStatus.st_mtim.tv_sec, status.st_mtim.tv_nsec == openStatus.st_mtim.tv_nsec
      {
        unlink(openPath)
      } else if isThere, let openMessage {
        _ = write(2, openMessage, strlen(openMessage))
      }
      Glibc.signal(signal, SIG_DFL)
      raise(signal)
    }
    try Signals.handling([SIGINT, SIGQUIT, SIGTERM, SIGHUP], ending) { try body() }
  }

  func edit() throws(StoreError) {
    // The terminal sends Ctrl-C to this program as well; the editor decides what it means.
    let status = Signals.ignoring([SIGINT, SIGQUIT]) {
      // The shell reads the name of the editor: it may have bytes that are not UTF-8.
      Shell.run("eval \"${VISUAL:-${EDITOR:-vi}} \\\"\\$KEPT_EDITED\\\"\"", [("KEPT_EDITED", path)])
    }
    let editor = Shown.line(Self.named ?? "vi")
    guard status == 0 else { throw StoreError(.failed, "the editor \(editor) failed\(left())") }
    guard access(path, F_OK) == 0 else {
      throw StoreError(.failed, "the editor \(editor) removed the file; nothing was committed")
    }
  }

  /// The editor that the user has named.
  static var named: String? { ["VISUAL", "EDITOR"].lazy.compactMap(Environment.shown).first }

  func text() throws(StoreError) -> String {
    guard let text = String(validating: try File.bytes(of: path), as: UTF8.self) else {
      throw .refused(nil, "the text is not UTF-8; save it as UTF-8")
    }
    return text
  }

  /// Removes the file if its text was not changed; else says where it is.
  func left() -> String {
    guard access(path, F_OK) == 0 else { return "; the edited file was removed" }
    guard (try? File.bytes(of: path)) != original else {
      remove()
      return "; the text was not changed"
    }
    return place
  }

  private var place: String { "; your text is in \(path)\(hasSecrets ? "; it contains secrets" : "")" }

  func remove() { unlink(path) }
}
