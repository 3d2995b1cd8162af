// The sources of a handle's layers, according to its options.

import CPlatform
import KeptValues

/// The place of a layer that is read from a file.
public enum LayerPlace: Sendable, Hashable {
  /// `/etc/kept/<identifier>/managed.json` and `/etc/kept/<identifier>/system.json`, for a store that is opened by its
  /// identifier; in a sandbox that shows the files of its host as `/run/host/etc`, also the same files there.
  case standard
  /// A file of any name.
  case path(String)
}

/// The sources of a handle's layers.
struct LayerSources {
  var files: [LayerFile] = []
  /// The files as they were when the sources were created, with their contents.
  private(set) var followed = LayerFiles([])
  private(set) var contents: [(Layer, LayerContents)] = []
  var arguments: [KeyName: TextValue] = [:]
  var environment: [KeyName: TextValue] = [:]
  var problems: [StoreError] = []
  var environmentPrefix: String?
  /// The layers that the options name, whether or not they have values.
  var layers: Set<Layer> = []
  private var isWrong = false

  init() {}

  /// Creates the sources for invalid places.
  init(insteadOf managed: LayerPlace?) {
    guard managed != nil else { return }
    layers = [.managed]
    isWrong = true
  }

  /// Whether a managed layer was requested but cannot be read.
  ///
  /// Then no key may be set.
  var lacksManaged: Bool { isWrong || followed.problem(of: .managed) != nil }

  /// - Parameter identifier: the identifier that the store was opened by, if any.
  init(
    managed: LayerPlace?, system: LayerPlace?, arguments: [String]?, environmentPrefix: String?, identifier: String?
  ) throws(StoreError) {
    for (place, layer) in [(managed, Layer.managed), (system, .system)] {
      guard let place else { continue }
      layers.insert(layer)
      files += LayerFile.all(at: try place.path(of: layer, identifier: identifier), layer: layer)
    }
    followed = LayerFiles(files)
    (contents, problems) = followed.read()
    if let arguments {
      layers.insert(.arguments)
      let layer = ArgumentLayer(arguments)
      self.arguments = layer.values
      problems += layer.problems
    }
    if let prefix = environmentPrefix {
      layers.insert(.environment)
      self.environmentPrefix = prefix
      let layer = try EnvironmentLayer(prefix: prefix, Self.variables)
      environment = layer.values
      problems += layer.problems
    }
  }

  /// Throws `unavailable` if the managed layer cannot be read, because without it no key would be locked.
  func checkManaged() throws(StoreError) {
    guard let problem = followed.problem(of: .managed) else { return }
    throw StoreError(
      .unavailable, key: problem.key, offset: problem.offset,
      "the managed layer cannot be used, and the store is not opened without it: \(problem.message)")
  }

  /// The variables that are valid UTF-8.
  ///
  /// Others cannot contain a key or its value.
  private static var variables: [String] {
    var variables: [String] = []
    var next = kept_environment()
    while let text = next?.pointee {
      if let variable = String(validatingCString: text) { variables.append(variable) }
      next = next?.advanced(by: 1)
    }
    return variables
  }
}

extension LayerPlace {
  fileprivate func path(of layer: Layer, identifier: String?) throws(StoreError) -> String {
    switch self {
    case .path(let path) where path.isEmpty || path.utf8.contains(0):
      throw StoreError(.invalid, "the path of the \(layer) layer is empty or contains a NUL; use the path of a file")
    // Made absolute, so that it stays valid after the program changes its working directory.
    case .path(let path):
      do throws(StoreError) { return try StoreFolder(path: path).absolute().path } catch {
        throw error.said { "\(path), the file of the \(layer) layer: \($0)" }
      }
    case .standard:
      guard let identifier else {
        throw StoreError(
          .invalid,
          "the \(layer) layer has a standard path only for a store that is opened by its identifier; specify a path")
      }
      return LayerFile.standardPath(identifier: identifier, layer: layer)
    }
  }
}
