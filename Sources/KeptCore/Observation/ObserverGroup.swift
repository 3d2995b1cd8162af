// The observers that subscribed through one handle. All of them read under the same layers.

import KeptSchema
import KeptSystem
import KeptValues

/// The observers of one handle, and the layers under which they were last notified.
final class ObserverGroup {
  let layerStack: LayerStack
  var layers: Layers
  var observers = ObserverIndex()

  init(_ layerStack: LayerStack) {
    self.layerStack = layerStack
    layers = layerStack.layers
  }

  /// Returns a change in the storage as read under the group's layers; it may be no change.
  func read(_ key: KeyName, from old: Entry?, to new: Entry) -> Change {
    var change = Change(key: key, from: layers.resolve(key, old), to: layers.resolve(key, new))
    change.isSecret = new.declaration?.isSecret == true || old?.declaration?.isSecret == true
    return change
  }
}

extension Change {
  init(key: KeyName, from old: Resolved, to new: Resolved) {
    self.init(key: key, old: old.value, new: new.value)
    (oldLayer, newLayer) = (old.layer, new.layer)
  }
}
