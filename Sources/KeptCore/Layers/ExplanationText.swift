// How an explanation is shown: the reason, then a line for each layer. A secret is not shown.

extension Explanation: CustomStringConvertible {
  /// A small table to be read by people: the value with the reason, then what each layer says.
  ///
  /// Values are JSON; of a secret there are none. In Python: `str(explanation)`.
  public var description: String {
    let shown = layer == nil ? "absent" : self.shown(value)
    return (["\(key.text) = \(shown): \(reason)"] + layers.map(row)).joined(separator: "\n")
  }

  private func row(_ opinion: Opinion) -> String {
    let value = opinion.verdict == .silent ? nil : shown(opinion.value)
    let parts = [value, opinion.source.map { "(\($0))" }, opinion.problem]
    let columns = [(opinion.layer.description, 11), (opinion.verdict.rawValue, 7)].map { text, width in
      text + String(repeating: " ", count: max(0, width - text.count))
    }
    return "  " + (columns + parts.compactMap(\.self)).joined(separator: "  ")
  }

  private func shown(_ value: Value?) -> String { isSecret ? "secret" : value?.json ?? "unreadable" }
}
