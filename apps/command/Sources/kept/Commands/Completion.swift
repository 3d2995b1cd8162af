import ArgumentParser
import CommandPages
import Formats
import Kept

struct Completion: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "completion",
    abstract: "Prints a script that completes commands, options, stores, keys and values in a shell.",
    usage: "kept completion bash | zsh | fish",
    discussion: """
      The packages install it. To install it yourself:

      bash: kept completion bash > ~/.local/share/bash-completion/completions/kept
      zsh:  kept completion zsh > a folder of $fpath, as _kept
      fish: kept completion fish > ~/.config/fish/completions/kept.fish
      """,
    subcommands: [])

  @Argument(help: .hidden) var words: [String] = []

  func run() throws {
    let shell = try words.expect(1...1, "bash, zsh or fish")[0]
    guard let script = CompletionScript.of(shell) else {
      throw ValidationError("\(Excerpt.of(shell)) is not a supported shell; use bash, zsh or fish")
    }
    Output.standard.write(script)
  }
}

/// What the scripts call: it prints one candidate a line; exit status 1 says that a file is expected.
struct Complete: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "complete", shouldDisplay: false)

  /// The program's name, the words that are complete, and the one that is being typed, all without quotes.
  @Argument(parsing: .captureForPassthrough) var words: [String] = []

  func run() throws {
    let typed = words.last ?? ""
    guard let candidates = CommandLineInProgress(Array(words.dropFirst().dropLast())).candidates(typed) else {
      throw ExitStatus.absent
    }
    for candidate in candidates where candidate.begins(with: typed) && Shown.line(candidate) == candidate {
      Output.standard.write(line: candidate)
    }
  }
}

/// A command line up to the word that is being typed.
private struct CommandLineInProgress {
  private let command: (any ParsableCommand.Type)?
  private let options: [CommandOption]
  private var words: [String] = []
  private var store = Environment.variable("KEPT_STORE")
  /// The option whose value is being typed.
  private var pending: String?
  /// Whether what follows are words, because `--` was given.
  private var isTerminated = false
  /// Whether what follows are the arguments of a program.
  private var isExplained = false
  /// Whether the command is about every store of the user.
  private var isAboutAll = false

  init(_ given: [String]) {
    command = given.first.flatMap(KeptCommand.command)
    options = CommandOption.all(of: command ?? KeptCommand.self)
    for word in given.dropFirst() {
      if let option = pending {
        if option == "--store" { store = word }
        pending = nil
      } else if isTerminated, word != "--" || isExplained {
        words.append(word)
      } else if word == "--" {
        isTerminated = true
        isExplained = words.count + (store == nil ? 0 : 1) > 1
      } else if word.begins(with: "--store=") {
        store = word.halves(at: "=")?.after
      } else if word.begins(with: "-"), word != "-" {
        pending = options.takingValue(word)
        if ["-A", "--all-stores"].contains(word) { isAboutAll = true }
      } else {
        words.append(word)
      }
    }
  }

  /// The words that may come here; nil for a file.
  func candidates(_ typed: String) -> [String]? {
    guard let name = command?._commandName else { return KeptCommand.commands.map { $0._commandName } }
    if let pending { return values(of: pending, typed) }
    if typed.begins(with: "-"), !isTerminated {
      // Every command takes --version, which the parser describes for the program alone.
      return options.flatMap(\.names).filter { $0.begins(with: "--") } + ["--version"]
    }
    switch name {
    case "explain" where isExplained: return []
    case "lint", "generate": return nil
    case "stores": return []
    case "completion": return ["bash", "zsh", "fish"]
    case "help": return words.isEmpty ? Help.names : []
    case "mark": return words.isEmpty ? ["good"] : words(of: name, from: 1, typed)
    default: return words(of: name, from: 0, typed)
    }
  }

  /// The words that may come after a command that is about a store.
  private func words(of command: String, from start: Int, _ typed: String) -> [String]? {
    if isAboutAll { return [] }
    var given = words.dropFirst(start)
    guard let location = store ?? given.popFirst() else { return stores(typed) }
    let isFirst = given.isEmpty
    switch command {
    case "get", "reset", "undeclare": return keys(of: location, typed)
    case "list", "watch", "explain", "describe", "log", "edit": return isFirst ? keys(of: location, typed) : []
    case "set": return assignment(Array(given), location, typed)
    case "diff": return isFirst ? stores(typed) : []
    case "verify": return stores(typed)
    case "backup", "restore", "import", "declare": return isFirst ? nil : []
    case "secrets": return isFirst ? Secrets.actions : []
    default: return []
    }
  }

  private func values(of option: String, _ typed: String) -> [String]? {
    switch option {
    case "--store": stores(typed)
    case "--type": DeclaredType.allValueStrings
    case "--format": Format.allValueStrings
    case "--key": (store ?? words.first).map { keys(of: $0, typed) } ?? []
    case "--add", "--remove": elements(for: option)
    case "--managed", "--system", "--key-file", "--output", "--screenshot", "--against": nil
    default: []
    }
  }

  private func stores(_ typed: String) -> [String]? {
    typed.has("/") ? nil : ((try? StorePlace.stores()) ?? []).map(\.location)
  }

  private func keys(of location: String, _ prefix: String) -> [String] {
    guard let settings = try? StoreAccess.open(location, isReadOnly: true) else { return [] }
    let stored = (try? settings.listedKeys(prefix: ExactString(prefix))) ?? []
    let declared = (try? settings.declarations(prefix: prefix).declarations.map(\.key)) ?? []
    // A key that begins with a dash would be taken for an option.
    let keys = Set(stored + declared).sorted()
    return keys.map(\.text).filter { isTerminated || !$0.begins(with: "-") }
  }

  /// A key, then a value, or `KEY=VALUE` as often as wanted.
  private func assignment(_ words: [String], _ location: String, _ typed: String) -> [String] {
    if words.count == 1, !words[0].has("=") { return choices(for: words[0], location) }
    guard words.allSatisfy({ $0.has("=") }) else { return [] }
    guard let key = typed.halves(at: "=")?.before else { return keys(of: location, typed) }
    return choices(for: key, location).map { "\(key)=\($0)" }
  }

  /// The elements that the declaration of the typed key lists, or those that its list has.
  private func elements(for option: String) -> [String] {
    let given = words.dropFirst(store == nil ? 1 : 0)
    guard let key = given.first, let location = store ?? words.first,
      let settings = try? StoreAccess.open(location, isReadOnly: true)
    else { return [] }
    let declaration = try? settings.declaration(forKey: key)
    let list = option == "--add" ? declaration?.elements?["enum"] : try? settings.value(forKey: key)
    guard declaration?.isSecret != true, case .array(let elements)? = list else { return [] }
    return elements.map { $0.text(as: declaration?.elementType) }
  }

  /// The values that a declaration lists.
  private func choices(for key: String, _ location: String) -> [String] {
    guard let settings = try? StoreAccess.open(location, isReadOnly: true),
      let declaration = try? settings.declaration(forKey: key), !declaration.isSecret
    else { return [] }
    if declaration.type == .boolean { return ["true", "false"] }
    guard case .array(let choices)? = declaration.words["enum"] else { return [] }
    return choices.map { $0.text(as: declaration.type) }
  }
}

enum CompletionScript {
  static func of(_ shell: String) -> String? {
    switch shell {
    case "bash":
      #"""
      # bash breaks words at : and = too, and leaves their quotes and backslashes in them.
      _kept() {
        local IFS=$'\n' line=${COMP_LINE:0:COMP_POINT} words=() start part word found i quote="'" quoted="'\''"
        for ((i = 0; i <= COMP_CWORD; i++)); do
          if ((i == 0)) || [[ $line == [[:space:]]* ]]; then words+=(""); fi
          line=${line#"${line%%[![:space:]]*}"}
          start=${words[-1]} part=${COMP_WORDS[i]:0:${#line}}
          words[-1]+=$part line=${line:${#part}}
        done
        # Readline replaces what follows the last break.
        case $part in [:=@]*) start+=$part ;; esac
        local typed=${words[-1]}
        for i in "${!words[@]}"; do
          case ${words[i]} in
            \'*) word=${words[i]:1}
              [[ $word == *"$quoted" ]] || word=${word%"$quote"}
              word=${word//"$quoted"/"$quote"} ;;
            \"*) word=${words[i]:1}; read word <<<"${word%\"}" ;;
            *) read word <<<"${words[i]}" ;;
          esac
          words[i]=$word
        done
        COMPREPLY=()
        found=$(kept complete "${words[@]}" 2>/dev/null) || { compopt -o default; return; }
        [[ -n $found ]] || return
        mapfile -t COMPREPLY <<<"$found"
        for i in "${!COMPREPLY[@]}"; do
          word=${COMPREPLY[i]}
          case $typed in
            # Readline knows neither a quote in such a word nor where it began.
            \'*"$quoted"*) COMPREPLY=(); return ;;
            \'*) word=${word//"$quote"/"$quoted"} ;;
            \"*) word=${word//\\/\\\\} word=${word//\"/\\\"} word=${word//\$/\\\$} word=${word//\`/\\\`} ;;
            *) printf -v word %q "$word"; word=${word#"$start"} ;;
          esac
          # Readline writes the closing quote, but not behind another one.
          [[ $typed != [\"\']* || $word != *"${typed:0:1}" ]] || word+=${typed:0:1}
          COMPREPLY[i]=$word
        done
      }
      complete -F _kept kept

      """#
    case "zsh":
      """
      #compdef kept
      _kept() {
        local found
        found=$(kept complete "${(@Q)words[1,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null) || { _files; return }
        [[ -n $found ]] && compadd -- "${(@f)found}"
      }
      if [[ $funcstack[1] == _kept ]]; then _kept "$@"; else compdef _kept kept; fi

      """
    case "fish":
      """
      function __kept_complete
        # A word with an open quote has no reading yet; then fish looks for what fits.
        set -l typed (commandline -ct | string unescape)
        kept complete (commandline -opc) "$typed" 2>/dev/null
        or __fish_complete_path (commandline -ct)
      end
      complete -c kept -f -a '(__kept_complete)'

      """
    default: nil
    }
  }
}
