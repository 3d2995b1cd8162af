// Why is it this value? What each layer says of a key, which one wins, and the reason.

/// What a key reads as, and why.
///
/// The C twin is `kept_explain_json`, whose text is ``json``. In Python: `settings.explain(key)`.
public struct Explanation: Sendable, Hashable {
  public var key: KeyName
  /// What it reads as; nil: it is absent.
  public var value: Value?
  /// Where that comes from.
  public var layer: Layer?
  /// Whether the administrator has locked the key.
  public var isLocked: Bool
  /// Whether values must not be written to a log or a screen; then ``json`` leaves them out.
  public var isSecret: Bool
  /// The revision that last changed what is stored; nil: nothing is.
  public var revision: Revision?
  /// What each layer that was given has to say, the highest first.
  public var layers: [LayerFinding]
  /// The whole of it in one sentence.
  public var reason: String

  /// What one layer has to say.
  public struct LayerFinding: Sendable, Hashable {
    public var layer: Layer
    /// The file, the argument or the variable that it stands in; nil where that has no name.
    public var source: String?
    /// The value that it has, as far as it can be read.
    public var value: Value?
    public var outcome: Outcome
    /// Why its value does not count, or its file cannot be read.
    public var problem: String?
    /// Whether the value must not be written to a log or a screen.
    public var isSecret: Bool
  }

  /// What becomes of what a layer says.
  public enum Outcome: String, Sendable, Hashable {
    /// It decides.
    case wins
    /// It would do, but a higher layer decides.
    case hidden
    /// It does not fit the declaration.
    case skipped
    /// The key is locked, and this layer is not asked.
    case ignored
    /// It has no value for the key, and locks it.
    case locks
    /// It has nothing for the key.
    case silent
  }
}

extension Explanation {
  /// The same as an object: `key`, `value`, `layer`, `locked`, `secret`, `revision`, `reason`, and `layers` with
  /// `layer`, `source`, `value`, `outcome` and `problem` each.
  ///
  /// What is nil is left out, and so are values of a secret.
  public var json: String { asValue.json }

  package var asValue: Value {
    var members: [(ExactString, Value)] = [
      ("key", .string(key.text)), ("locked", .bool(isLocked)), ("secret", .bool(isSecret)),
      ("reason", .string(reason)), ("layers", .array(layers.map(\.asValue))),
    ]
    if let value, !isSecret { members.append(("value", value)) }
    if let layer { members.append(("layer", .string(layer.description))) }
    if let revision { members.append(("revision", .int(Int64(clamping: revision)))) }
    return .dictionary(ValueDictionary(members))
  }
}

extension Explanation.LayerFinding {
  fileprivate var asValue: Value {
    var members: [(ExactString, Value)] = [
      ("layer", .string(layer.description)), ("outcome", .string(outcome.rawValue)),
    ]
    if let source { members.append(("source", .string(source))) }
    if let value, !isSecret { members.append(("value", value)) }
    if let problem { members.append(("problem", .string(problem))) }
    return .dictionary(ValueDictionary(members))
  }
}

/// The layers of a handle at one moment, with all that there is to say of them.
struct LayerState: Sendable {
  let layers: Layers
  /// Those that the handle was opened with.
  let sources: Set<Layer>
  let environmentPrefix: String?
  let files: LayerFiles

  func explain(_ key: KeyName, _ entry: Entry?) -> Explanation {
    let resolved = layers.resolve(key, entry)
    let findings = Layer.highestFirst.filter { $0.isAlwaysThere || sources.contains($0) }.map { layer in
      finding(of: layer, key, entry, winner: resolved.layer)
    }
    return Explanation(
      key: key, value: resolved.value, layer: resolved.layer, isLocked: layers.managed.locks(key),
      isSecret: entry?.declaration?.isSecret == true, revision: entry?.value == nil ? nil : entry?.revision,
      layers: findings, reason: reason(resolved.layer, findings, isLocked: layers.managed.locks(key)))
  }

  private func finding(of layer: Layer, _ key: KeyName, _ entry: Entry?, winner: Layer?) -> Explanation.LayerFinding {
    let isIgnored = layers.managed.locks(key) && layer.isIgnoredWhereLocked
    let finding = layers.finding(layer, key, entry)
    let outcome: Explanation.Outcome =
      if !finding.isThere {
        layer == .managed && layers.managed.locks(key) ? .locks : .silent
      } else if isIgnored {
        .ignored
      } else if finding.problem != nil { .skipped } else { layer == winner ? .wins : .hidden }
    return Explanation.LayerFinding(
      layer: layer, source: finding.isThere ? source(of: layer, key) : files.path(of: layer),
      value: finding.value ?? finding.unfit, outcome: outcome,
      problem: finding.problem?.message ?? files.problem(of: layer)?.message,
      isSecret: entry?.declaration?.isSecret == true)
  }

  private func reason(_ winner: Layer?, _ findings: [Explanation.LayerFinding], isLocked: Bool) -> String {
    let lock = isLocked ? "; the key is locked, so arguments, environment and user are not asked" : ""
    let skipped = findings.filter { $0.outcome == .skipped }.map(\.layer.description).joined(separator: ", ")
    guard let winner else { return "no layer has a value" + (skipped.isEmpty ? "" : " that fits") + lock }
    let hidden = findings.filter { $0.outcome == .hidden }.map(\.layer.description).joined(separator: ", ")
    return "the \(winner) layer is the highest that has a value"
      + (hidden.isEmpty ? "" : "; it hides what stands in: \(hidden)")
      + (skipped.isEmpty ? "" : "; what does not fit is skipped in: \(skipped)") + lock
  }

  /// Where what a layer has for a key stands.
  private func source(of layer: Layer, _ key: KeyName) -> String? {
    switch layer {
    case .arguments: "-" + key.text
    case .environment: environmentPrefix.map { EnvironmentName.name(of: key, prefix: $0) }
    default: files.path(of: layer)
    }
  }
}

extension Layer {
  /// Whether every handle has it.
  fileprivate var isAlwaysThere: Bool { self == .user || self == .registered || self == .declared }
}
