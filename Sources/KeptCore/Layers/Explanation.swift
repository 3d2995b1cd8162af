// Explains a value: the value that each layer has for a key, the layer that wins, and the reason.

import KeptSchema
import KeptSystem
public import KeptValues

/// The value of a key, and why it has that value.
///
/// In C: `kept_explain_json`, whose text is ``json``. In Python: `settings.explain(key)`.
public struct Explanation: Sendable, Hashable {
  public var key: KeyName
  /// The value; nil if the key is absent, or if the stored value is a secret that is locked.
  public var value: Value?
  /// The layer that the value comes from.
  public var layer: Layer?
  /// Whether the administrator has locked the key.
  public var isLocked: Bool
  /// Whether values must not be written to a log or a screen; then ``json`` omits them.
  public var isSecret: Bool
  /// The revision that last changed the stored value; nil if nothing is stored.
  public var revision: Revision?
  /// A finding for each layer of the handle, the highest first.
  public var layers: [LayerFinding]
  /// What decides, and what becomes of the other values, in one sentence for people.
  public var reason: String

  /// The value that one layer has for a key, and its outcome.
  public struct LayerFinding: Sendable, Hashable {
    public var layer: Layer
    /// The file, argument or variable that holds the value; nil if it has no name.
    public var source: String?
    /// The former name of the key, if the layer has it, or locks it, under that.
    public var formerName: KeyName?
    /// The layer's value, as far as it can be read.
    public var value: Value?
    public var outcome: Outcome
    /// Why the layer's value does not apply, or why its file cannot be read.
    public var problem: String?
    /// Whether the value must not be written to a log or a screen.
    public var isSecret: Bool
  }

  /// The outcome of a layer's value.
  public enum Outcome: String, Sendable, Hashable {
    /// The layer's value is the value of the key.
    case wins
    /// The value would apply, but a higher layer decides.
    case hidden
    /// The value does not fit the declaration.
    case skipped
    /// The key is locked, so this layer is disregarded.
    case ignored
    /// The layer has no value for the key, and locks it.
    case locks
    /// The layer has no value for the key.
    case silent
  }
}

extension Explanation {
  /// The explanation as an object.
  ///
  /// Its members are `key`, `value`, `layer`, `locked`, `secret`, `revision`, `reason`, and `layers` with `layer`,
  /// `source`, `formerName`, `value`, `outcome` and `problem` each. Members that are nil, and the values of a secret,
  /// are omitted.
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
    if let formerName { members.append(("formerName", .string(formerName.text))) }
    if let value, !isSecret { members.append(("value", value)) }
    if let problem { members.append(("problem", .string(problem))) }
    return .dictionary(ValueDictionary(members))
  }
}

/// The layers of a handle at one point in time, with the details that explanations need.
struct LayerState: Sendable {
  let layers: Layers
  /// The layers that the handle was opened with.
  let sources: Set<Layer>
  let environmentPrefix: String?
  /// The variables that set no declared key.
  let undeclared: [UndeclaredVariable]
  let files: LayerFiles

  /// - Parameter unread: why the stored value is not in the entry, if it cannot be read.
  func explain(_ key: KeyName, _ entry: Entry?, unread: StoreError? = nil) -> Explanation {
    let isLocked = layers.lockedName(of: key, entry?.declaration) != nil
    var resolved = layers.resolve(key, entry)
    if unread != nil, !isLocked, resolved.layer.map({ $0 < .user }) ?? true { resolved = Resolved(layer: .user) }
    let findings = Layer.highestFirst.filter { $0.isAlwaysThere || sources.contains($0) }.map { layer in
      var finding = finding(of: layer, key, entry, winner: resolved.layer)
      if let unread, layer == .user {
        finding.problem = unread.message
        finding.outcome = isLocked ? .ignored : resolved.layer == .user ? .wins : .hidden
      }
      return finding
    }
    let isStored = entry?.value != nil || unread != nil
    return Explanation(
      key: key, value: resolved.value, layer: resolved.layer, isLocked: isLocked,
      isSecret: entry?.declaration?.isSecret == true, revision: isStored ? entry?.revision : nil,
      layers: findings, reason: Self.reason(findings, isLocked: isLocked, isStored: isStored))
  }

  private func finding(of layer: Layer, _ key: KeyName, _ entry: Entry?, winner: Layer?) -> Explanation.LayerFinding {
    let lockedName = layers.lockedName(of: key, entry?.declaration)
    let finding = layers.finding(layer, key, entry)
    var name = layers.name(of: key, entry?.declaration, in: layer)
    if layer == .managed, !finding.isThere, let lockedName { name = lockedName }
    let outcome: Explanation.Outcome =
      if !finding.isThere {
        layer == .managed && lockedName != nil ? .locks : .silent
      } else if lockedName != nil && layer.isIgnoredWhereLocked {
        .ignored
      } else if finding.problem != nil { .skipped } else { layer == winner ? .wins : .hidden }
    return Explanation.LayerFinding(
      layer: layer, source: finding.isThere ? source(of: layer, name) : files.path(of: layer, for: name),
      formerName: name == key ? nil : name, value: finding.value ?? finding.unfit, outcome: outcome,
      problem: finding.problem?.message ?? files.problem(of: layer)?.description ?? problem(of: layer, key),
      isSecret: entry?.declaration?.isSecret == true)
  }

  private func problem(of layer: Layer, _ key: KeyName) -> String? {
    guard layer == .environment, let environmentPrefix else { return nil }
    return undeclared.lazy.compactMap { $0.problem(of: key, prefix: environmentPrefix) }.first
  }

  /// One sentence for people: what decides, and what becomes of the other values.
  private static func reason(_ findings: [Explanation.LayerFinding], isLocked: Bool, isStored: Bool) -> String {
    let winner = findings.first { $0.outcome == .wins }
    var others = ""
    for (outcome, words) in [
      (Explanation.Outcome.hidden, "overridden"), (.ignored, "ignored"),
      (.skipped, "skipped, because the value does not match the declaration"),
    ] {
      let layers = findings.filter { $0.outcome == outcome }.map(\.layer.description).joined(separator: ", ")
      if !layers.isEmpty { others += "; \(words): \(layers)" }
    }
    let decision =
      winner?.decision(isStored: isStored)
      ?? (others.isEmpty ? "no layer has a value" : "no layer has a value that applies")
    guard isLocked else { return decision + others }
    let file = findings.first { $0.layer == .managed }?.source.map { " \($0)" } ?? ""
    return "locked by the administrator's file\(file)"
      + (winner?.layer == .managed ? ", which sets it" : "; \(decision)") + others
  }

  /// The place where a layer has its value for a key.
  private func source(of layer: Layer, _ key: KeyName) -> String? {
    switch layer {
    case .arguments: "-" + key.text
    case .environment: environmentPrefix.map { EnvironmentName.name(of: key, prefix: $0) }
    default: files.path(of: layer, for: key)
    }
  }
}

extension Explanation.LayerFinding {
  /// Why the value of this layer is used, for people.
  fileprivate func decision(isStored: Bool) -> String {
    let source = (source.map { " \($0)" } ?? "") + (formerName.map { " under the former name \"\($0)\"" } ?? "")
    let why = isStored ? "" : "nothing is stored, so "
    return switch layer {
    case .managed: "the administrator's file\(source) sets it"
    case .arguments: "the argument\(source) sets it"
    case .environment: "the variable\(source) sets it"
    case .user: "the stored value applies" + (problem == nil ? "" : ", but it cannot be read")
    case .system: "\(why)the default of the administrator's file\(source) applies"
    case .registered: "\(why)the default in the program's code applies"
    case .declared: "\(why)the declared default applies"
    }
  }
}

extension Layer {
  /// Whether every handle has this layer.
  fileprivate var isAlwaysThere: Bool { self == .user || self == .registered || self == .declared }
}
