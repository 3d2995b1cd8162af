// The section "Layers" of kept.h: the origin of a value.

public import CKept
import CPlatform
import KeptCore
import KeptSystem
import KeptValues

@_cdecl("kept_explain_json") @implementation
public func kept_explain_json(
  _ store: OpaquePointer?, _ key: UnsafePointer<CChar>?,
  _ json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?, _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  boundary(error) { () throws(StoreError) in
    let settings = try store.reading()
    let out = try json.required("json")
    out.pointee = try settings.explanation(of: key.key()).asValue.newCText()
  }
}

@_cdecl("kept_layer_of") @implementation
public func kept_layer_of(
  _ store: OpaquePointer?, _ key: UnsafePointer<CChar>?, _ layer: UnsafeMutablePointer<UInt32>?,
  _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  boundary(error) { () throws(StoreError) in
    let settings = try store.reading()
    let out = try layer.required("layer")
    out.pointee = Layer.code(of: try settings.resolved(key.key()).layer)
  }
}

@_cdecl("kept_register_json") @implementation
public func kept_register_json(
  _ store: OpaquePointer?, _ json: UnsafePointer<CChar>?, _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  boundary(error) { () throws(StoreError) in
    let store = try store.store()
    guard let defaults = try json.value(for: nil).asDictionary else {
      throw StoreError(.invalid, "the defaults are not an object that maps keys to values")
    }
    try store.register(defaults: defaults)
  }
}

extension Layer {
  init?(code: UInt32) {
    guard let layer = Layer.allCases.first(where: { Layer.code(of: $0) == code }) else { return nil }
    self = layer
  }

  static func code(of layer: Layer?) -> UInt32 {
    switch layer {
    case nil: KEPT_LAYER_NONE
    case .declared: KEPT_LAYER_DECLARED
    case .registered: KEPT_LAYER_REGISTERED
    case .system: KEPT_LAYER_SYSTEM
    case .user: KEPT_LAYER_USER
    case .environment: KEPT_LAYER_ENVIRONMENT
    case .arguments: KEPT_LAYER_ARGUMENTS
    case .managed: KEPT_LAYER_MANAGED
    }
  }
}

extension SettingsAccess {
  /// The warning for a write that a higher layer hides; nil if none does.
  func shadow(over key: KeyName) -> StoreError? { layerHiding(key).map { .shadowed(key, by: $0) } }
}

extension kept_options {
  /// Copies the options for layers and for the reporting of failures.
  func addLayers(to options: inout StoreOptions) throws(StoreError) {
    options.managed = try place(managed, "managed")
    options.system = try place(system, "system")
    options.environmentPrefix = try environment.map { prefix throws(StoreError) in
      try Optional(prefix).text("environment")
    }
    // The reporter comes first, so that errors in the other options can be reported.
    addReport(to: &options)
    options.arguments = try arguments(hearing: options.errorHandler)
  }

  private func addReport(to options: inout StoreOptions) {
    guard let report else {
      // The messages that a debug build would print are advice for Swift.
      options.errorHandler = { _ in }
      return
    }
    let context = ReportContext(pointer: report_context)
    options.reporter = Reporter { failure in
      var error = kept_error()
      withUnsafeMutablePointer(to: &error) { $0.fill(failure) }
      report(context.pointer, &error)
    }
  }

  private func place(_ text: UnsafePointer<CChar>?, _ name: StaticString) throws(StoreError) -> LayerPlace? {
    guard text != nil else { return nil }
    let path = try text.text(name)
    return path.isEmpty ? .standard : .path(path)
  }

  private func arguments(hearing report: (StoreError) -> Void) throws(StoreError) -> [String]? {
    guard argc >= 0, argv != nil || argc == 0 else {
      let count = UInt(bitPattern: argc)
      let found = argv == nil ? "argv is NULL, but argc is \(count)" : "argc is \(count), which is too large"
      throw StoreError(.invalid, "\(found); pass both as main() received them")
    }
    guard let argv else { return nil }
    var arguments: [String] = []
    for place in 0..<argc {
      guard let argument = argv[place] else {
        throw StoreError(.invalid, "argv[\(place)] is NULL, but argc is \(argc); pass both as main() received them")
      }
      if let text = String(validatingCString: argument) {
        arguments.append(text)
      } else {
        report(StoreError(.invalid, "argument \(place) is ignored, because it is not UTF-8"))
        // A lone dash is neither a key nor a value.
        arguments.append("-")
      }
    }
    return arguments
  }
}

/// The program guarantees that it may be used on any thread.
private struct ReportContext: @unchecked Sendable {
  let pointer: UnsafeMutableRawPointer?
}
