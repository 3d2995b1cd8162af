// Where the layers of a handle come from, as its options say.

import CPlatform

/// Where a layer that is a file is read from.
public enum LayerPlace: Sendable, Hashable {
  /// `/etc/kept/<identifier>/managed.json` and `/etc/kept/<identifier>/system.json`; for a store that is opened by its
  /// identifier.
  case standard
  /// A file of any name.
  case path(String)
}

/// What a handle's layers are made of.
struct LayerSources {
  var files: [LayerFile] = []
  /// The files as they were when the sources were made, with what stands in them.
  private(set) var followed = LayerFiles([])
  private(set) var contents: [(Layer, LayerContents)] = []
  var arguments: [KeyName: TextValue] = [:]
  var environment: [KeyName: TextValue] = [:]
  var problems: [StoreError] = []
  var environmentPrefix: String?
  /// Which layers were asked for, be there anything in them or not.
  var layers: Set<Layer> = []
  private var isWrong = false

  init() {}

  /// For options that are wrong, in place of what they should have given.
  init(insteadOf options: StoreOptions) {
    guard options.managed != nil else { return }
    layers = [.managed]
    isWrong = true
  }

  /// Whether there should be a managed layer, and none is known: no key may be set then.
  var lacksManaged: Bool { isWrong || followed.problem(of: .managed) != nil }

  /// - Parameter identifier: that of the store, if it was opened by one.
  init(_ options: StoreOptions, identifier: String?) throws(StoreError) {
    for (place, layer) in [(options.managed, Layer.managed), (options.system, .system)] {
      guard let place else { continue }
      layers.insert(layer)
      files.append(LayerFile(path: try place.path(of: layer, identifier: identifier), layer: layer))
    }
    followed = LayerFiles(files)
    (contents, problems) = followed.read()
    if let arguments = options.arguments {
      layers.insert(.arguments)
      let layer = ArgumentLayer(arguments)
      self.arguments = layer.values
      problems += layer.problems
    }
    if let prefix = options.environmentPrefix {
      layers.insert(.environment)
      environmentPrefix = prefix
      let layer = try EnvironmentLayer(prefix: prefix, Self.variables)
      environment = layer.values
      problems += layer.problems
    }
  }

  /// Throws `unavailable` where there is a managed layer that cannot be read: without it nothing would be locked.
  func checkManaged() throws(StoreError) {
    guard let problem = followed.problem(of: .managed) else { return }
    throw StoreError(
      .unavailable, key: problem.key, offset: problem.offset,
      "the store is not opened without its managed layer: \(problem.message)")
  }

  /// Those that are UTF-8: no others could be a key or its value.
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
      throw StoreError(.invalid, "the path of the \(layer) layer is empty or holds a NUL; give the path of a file")
    // Also after the program has changed its working directory.
    case .path(let path):
      do throws(StoreError) { return try StoreFolder(path: path).absolute().path } catch {
        throw error.said { "\(path), the file of the \(layer) layer: \($0)" }
      }
    case .standard:
      guard let identifier else {
        throw StoreError(
          .invalid,
          "the \(layer) layer has a standard place only for a store that is opened by its identifier; give a path")
      }
      return LayerFile.standardPath(identifier: identifier, layer: layer)
    }
  }
}
