// How an explanation is shown: the reason, then a line for each layer. A secret is not shown.

extension Explanation: CustomStringConvertible {
  /// A small table to be read by people: the value with the reason, then what each layer says.
  ///
  /// Values are JSON; of a secret there are none. In Python: `str(explanation)`.
  public var description: String {
    let shown = layer == nil ? "absent" : shown(value, inPlaceOfSecret: "secret")
    return (["\(key.text) = \(shown): \(reason)"] + layers.map(row)).joined(separator: "\n")
  }

  private func row(_ opinion: Opinion) -> String {
    let value = opinion.verdict == .silent ? nil : shown(opinion.value, inPlaceOfSecret: "(secret)")
    let remarks = [value, opinion.source.map { "(\($0))" }, opinion.problem].compactMap(\.self)
    let verdict = opinion.verdict.rawValue
    return (["  " + padded(opinion.layer.description, 11), remarks.isEmpty ? verdict : padded(verdict, 7)] + remarks)
      .joined(separator: "  ")
  }

  private func padded(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }

  private func shown(_ value: Value?, inPlaceOfSecret veil: String) -> String {
    isSecret ? veil : value?.json ?? "unreadable"
  }
}
