// The text of an explanation: the reason, then a line for each layer. The value of a secret is not shown.

import KeptValues

extension Explanation: CustomStringConvertible {
  /// A small table for people: the value with the reason, then a line for each layer.
  ///
  /// Values are shown as JSON; those of a secret are omitted. In Python: `str(explanation)`.
  public var description: String {
    let shown = layer == nil ? "absent" : isSecret ? "secret" : value?.displayed ?? "unreadable"
    return (["\(DisplayText.line(key.text)) = \(shown): \(DisplayText.line(reason))"] + layers.map { "  \($0)" })
      .joined(separator: "\n")
  }
}

extension Explanation.LayerFinding: CustomStringConvertible {
  /// A row of the table.
  public var description: String {
    let hasValue = outcome != .silent && outcome != .locks
    let shown = hasValue ? isSecret ? "(secret)" : value?.displayed ?? "unreadable" : nil
    let former = formerName.map { "formerly \(DisplayText.line($0.text))" }
    let remarks = [shown, source.map { "(\(DisplayText.line($0)))" }, former, problem.map(DisplayText.line)]
      .compactMap(\.self)
    let end = remarks.isEmpty ? outcome.rawValue : padded(outcome.rawValue, 7)
    return ([padded(layer.description, 11), end] + remarks).joined(separator: "  ")
  }

  private func padded(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }
}
