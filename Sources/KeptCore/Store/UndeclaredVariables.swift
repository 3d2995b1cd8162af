// Which variables of the environment layer set no declared key of a store, and their report to the error handler.

import KeptSchema
import KeptValues

extension Store {
  /// The variables of the environment layer that set no declared key; none for a store without declarations.
  func undeclaredVariables() throws(StoreError) -> [UndeclaredVariable] {
    let storage = try storage()
    guard layerStack.sources.contains(.environment), storage.abilities.contains(.declarations) else { return [] }
    var undeclared: [KeyName] = []
    for key in layerStack.layers.environment.keys where try declaration(of: key) == nil { undeclared.append(key) }
    guard !undeclared.isEmpty else { return [] }
    return try layerStack.undeclaredVariables(at: try storage.revision()) { () throws(StoreError) in
      let declarations = try storage.declarations(prefix: "")
      let (declared, former) = (declarations.map(\.key), Set(declarations.compactMap(\.declaration.formerName)))
      let unknown = declared.isEmpty ? [] : undeclared.filter { !former.contains($0) }.inOrder(of: \.exact)
      return unknown.map { UndeclaredVariable($0, among: declared) }
    }
  }

  /// Reports variables that set no declared key, each of them once.
  ///
  /// - Parameter declared: keys that were just declared; only variables that were meant for them are reported, because
  ///   the program may go on to declare others.
  func reportUndeclaredVariables(meantFor declared: Set<KeyName>? = nil) {
    guard let prefix = layerStack.environmentPrefix, let variables = try? undeclaredVariables() else { return }
    for variable in variables where declared == nil || variable.meant.map({ declared?.contains($0) == true }) == true {
      if layerStack.isFirstReport(of: variable.key) { report(variable.warning(prefix: prefix)) }
    }
  }
}
