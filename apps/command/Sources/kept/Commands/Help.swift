import ArgumentParser

struct Help: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "help",
    abstract: "Explains a command, a topic or an error code.",
    usage: "kept help [COMMAND | TOPIC | CODE]",
    discussion: """
      `kept help topics` lists the topics. They are also the sections of `man kept`. `kept help errors` lists the \
      error codes. CODE is one of them, such as busy, or its name in C, Swift or Python, such as KEPT_BUSY or BusyError.
      """)

  @Argument(help: .hidden) var words: [String] = []

  func run() throws {
    guard let name = try words.expect(0...1, "one command, topic or error code").first else {
      return Output.standard.write(line: KeptCommand.helpMessage())
    }
    if let command = KeptCommand.command(name) {
      return Output.standard.write(line: KeptCommand.helpMessage(for: command))
    }
    if name == "topics" { return printTopics() }
    let topic = Guide.topics.first { $0.name == name } ?? Guide.errors.first { $0.explains(name) }
    guard let topic else {
      let similar = Suggestion.closest(to: name, among: Self.names)
      throw ValidationError(
        "\(Excerpt.of(name)) is not a kept command, topic or error code; kept --help, kept help topics and kept help "
          + "errors list them\(similar)")
    }
    Output.standard.write(line: topic.title.styled(.bold))
    for block in topic.blocks {
      Output.standard.write("\n")
      for line in block.lines(width: min(80, Output.standard.width)) { Output.standard.write(line: line) }
    }
  }

  /// Everything that help can be had for.
  static var names: [String] {
    KeptCommand.commands.map { $0._commandName } + ["topics"] + (Guide.topics + Guide.errors).map(\.name)
  }

  private func printTopics() {
    var table = Table(["TOPIC", ""], shrinking: [(1, 12)])
    for topic in Guide.topics { table.add([topic.name, topic.summary]) }
    table.print()
  }
}
