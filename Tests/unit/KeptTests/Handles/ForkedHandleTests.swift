// Handles in the child of a fork, while another thread of the parent was writing or destroying.

import Kept
import Testing

@Suite(.timeLimit(.minutes(30))) struct `A handle in a forked child` {
  private let folder: SharedFolder

  init() throws { folder = try SharedFolder() }

  private func ask(_ question: String) throws -> [String] {
    let process = try OtherProcess(opening: "dir:" + folder.location)
    try process.ask([["set", "a", "1"], [question, folder.location], ["get", "a"]])
    return try process.finish()
  }

  @Test func `is destroyed without waiting for a writer who is only in the parent`() throws {
    let answers = try ask("fork-while-a-handle-is-written")
    #expect(answers == ["ok", "the parent still waited, the child read 1 and destroyed", "absent"])
  }

  @Test func `is written though the parent was about to destroy it`() throws {
    let answers = try ask("fork-while-a-handle-is-destroyed")
    #expect(answers == ["ok", "the parent still waited, the child read 1 and wrote", "3"])
  }
}
