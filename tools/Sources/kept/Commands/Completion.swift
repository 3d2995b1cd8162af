import ArgumentParser
import Kept

struct Completion: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Prints what makes a shell complete commands, stores and keys.",
    usage: "kept completion bash | zsh | fish",
    discussion: """
      bash: kept completion bash > ~/.local/share/bash-completion/completions/kept
      zsh:  kept completion zsh > a folder of $fpath, as _kept
      fish: kept completion fish > ~/.config/fish/completions/kept.fish
      """,
    subcommands: [])

  @Argument var words: [String] = []

  func run() throws {
    let shell = try words.expect(1...1, "bash, zsh or fish")[0]
    guard let script = CompletionScript.of(shell) else {
      throw ValidationError("\(Excerpt.of(shell)) is no shell that is known here; give bash, zsh or fish")
    }
    Output.standard.write(script)
  }
}

/// What the scripts call: one candidate a line.
struct Complete: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "complete", shouldDisplay: false)

  @Argument(parsing: .captureForPassthrough) var words: [String] = []

  func run() throws {
    // The last word is the one that is being typed; before it come the program and the words that are complete.
    let typed = words.last ?? ""
    let given = words.dropFirst().dropLast().filter { !$0.hasPrefix("-") }
    for candidate in Self.candidates(Array(given)) where candidate.hasPrefix(typed) {
      Output.standard.write(line: candidate)
    }
  }

  private static func candidates(_ given: [String]) -> [String] {
    guard let command = given.first else { return CompletionScript.commands }
    let store = Environment.variable("KEPT_STORE")
    guard let location = store ?? given.dropFirst().first else {
      return ((try? StoreFacts.identifiers()) ?? []).map(\.name)
    }
    guard CompletionScript.commandsWithKeys.contains(command), let settings = try? StoreAccess.open(location) else {
      return []
    }
    let stored = (try? settings.keys()) ?? []
    let declared = (try? settings.declarations().declarations) ?? []
    // After `set STORE KEY`: the choices of the declaration.
    if command == "set", let key = given.dropFirst(store == nil ? 2 : 1).last {
      guard let declaration = declared.first(where: { $0.key.text == key })?.declaration else { return [] }
      return CompletionScript.choices(of: declaration)
    }
    return Set(stored + declared.map(\.key.text)).filter { !$0.unicodeScalars.contains { $0.value < 0x21 } }.sorted()
  }
}

enum CompletionScript {
  static let commands = [
    "get", "set", "reset", "edit", "list", "watch", "explain", "describe", "declare", "undeclare", "lint", "log",
    "undo", "diff", "mark", "export", "import", "backup", "restore", "transaction", "doctor", "info", "migrate-status",
    "stores", "completion", "help",
  ]
  static let commandsWithKeys: Set<String> = [
    "get", "set", "reset", "list", "watch", "explain", "describe", "undeclare", "log",
  ]

  static func choices(of declaration: Declaration) -> [String] {
    if declaration.type == .boolean { return ["true", "false"] }
    guard case .dictionary(let words)? = try? Value(json: "{\"$literal\":\(declaration.json)}"),
      case .array(let choices)? = words["enum"]
    else { return [] }
    return choices.map { ValueText.text(of: $0, as: declaration.type) }
  }

  static func of(_ shell: String) -> String? {
    switch shell {
    case "bash":
      """
      _kept() {
        local IFS=$'\\n'
        COMPREPLY=($(kept complete "${COMP_WORDS[@]:0:COMP_CWORD+1}" 2>/dev/null))
        [[ ${#COMPREPLY[@]} -eq 0 ]] && compopt -o default
      }
      complete -F _kept kept

      """
    case "zsh":
      """
      #compdef kept
      _kept() {
        local -a found
        found=("${(@f)$(kept complete "${(@)words[1,CURRENT]}" 2>/dev/null)}")
        if [[ -n ${found[1]} ]]; then compadd -- "${found[@]}"; else _files; fi
      }
      if [[ $funcstack[1] == _kept ]]; then _kept "$@"; else compdef _kept kept; fi

      """
    case "fish":
      """
      complete -c kept -a '(kept complete (commandline -opc) (commandline -ct) 2>/dev/null)'

      """
    default: nil
    }
  }
}
