// Writes the keys of a target as code in each build: `kept generate` reads `player.schema.json` among its files.

import Foundation
import PackagePlugin

@main
struct KeptKeys: BuildToolPlugin {
  func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
    let files = (target as? any SourceModuleTarget)?.sourceFiles.map(\.url) ?? []
    let schemas = files.filter { $0.lastPathComponent.hasSuffix(".schema.json") }
    guard !schemas.isEmpty else {
      Diagnostics.error("the target \(target.name) has no file of declarations; add one that is named NAME.schema.json")
      return []
    }
    guard let kept = Self.command else {
      Diagnostics.error("the command kept is not in PATH; install it, or add its folder to PATH")
      return []
    }
    return schemas.map { schema in
      let name = schema.deletingPathExtension().lastPathComponent
      let file = context.pluginWorkDirectoryURL.appending(path: "\(name).swift")
      return .buildCommand(
        displayName: "Generating \(file.lastPathComponent)", executable: kept,
        arguments: ["generate", schema.path, "--swift", "--output", file.path],
        inputFiles: [schema, kept], outputFiles: [file])
    }
  }

  private static var command: URL? {
    (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
      .map { URL(filePath: String($0)).appending(path: "kept") }
      .first { FileManager.default.isExecutableFile(atPath: $0.path) }
  }
}
