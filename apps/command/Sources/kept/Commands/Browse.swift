import ArgumentParser

/// What help, the manual and completion know of the browser, which reads its words itself: `Browser` starts it.
struct Browse: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: Browser.command,
    abstract: "Shows and changes settings in a full-screen terminal program.",
    usage: "kept browse [STORE] [--read-only] [--search TEXT] [--key KEY]",
    discussion: """
      Without a store, it shows the stores of the user. Press ? for help.

      The browser is a Python program, which is installed separately. All words are passed to `kept-browse` in `PATH`, \
      or else to `python3 -m kept_browse`. If there is neither, the exit status is 4. To install it:

      \(Browser.installing)
      """)

  @OptionGroup var store: StoreOption
  @OptionGroup var layers: LayerOptions
  @Flag(help: "Do not allow changes.")
  var readOnly = false
  @Option(help: ArgumentHelp("Start with a search, such as @modified.", valueName: "text"))
  var search: String?
  @Option(help: ArgumentHelp("Start with the page of a key.", valueName: "key"))
  var key: String?
  @Flag(help: "Use dark text on a light background.")
  var light = false
  @Flag(help: "Draw in ASCII, as in a locale that is not UTF-8.")
  var ascii = false
  @Option(help: ArgumentHelp("Write a picture (SVG) of the first screen, and exit.", valueName: "file"))
  var screenshot: String?
  @Option(help: ArgumentHelp("The columns and lines of the picture, such as 100x30.", valueName: "size"))
  var size: String?
  @Argument(help: .hidden) var words: [String] = []
}
