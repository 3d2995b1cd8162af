import ArgumentParser

struct Help: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "help",
    abstract: "Explains a command or a topic.",
    usage: "kept help [COMMAND | TOPIC | topics]",
    discussion: "`kept help topics` lists the topics. They are also the sections of `man kept`.")

  @Argument(help: .hidden) var words: [String] = []

  func run() throws {
    guard let name = try words.expect(0...1, "one command or topic").first else {
      return Output.standard.write(line: KeptCommand.helpMessage())
    }
    if let command = KeptCommand.command(name) {
      return Output.standard.write(line: KeptCommand.helpMessage(for: command))
    }
    if name == "topics" { return printTopics() }
    guard let topic = Guide.topics.first(where: { $0.name == name }) else {
      let similar = Suggestion.closest(to: name, among: Self.names)
      throw ValidationError("\(Excerpt.of(name)) is no command and no topic\(similar); kept help topics lists them")
    }
    Output.standard.write(line: topic.title.styled(.bold))
    for block in topic.blocks {
      Output.standard.write("\n")
      for line in block.lines(width: min(80, Output.standard.width)) { Output.standard.write(line: line) }
    }
  }

  /// Everything that help can be had for.
  static var names: [String] { KeptCommand.commands.map { $0._commandName } + ["topics"] + Guide.topics.map(\.name) }

  private func printTopics() {
    var table = Table(["TOPIC", ""], shrinking: [(1, 12)])
    for topic in Guide.topics { table.add([topic.name, topic.summary]) }
    table.print()
  }
}
