// A setting as a property of a view. So far it was only parsed and checked against substitutes; it was never built on a
// Mac.

#if canImport(SwiftUI)
public import KeptCore
import KeptSystem
import KeptValues
public import SwiftUI

/// Makes a property of a SwiftUI view read and write a key, and updates the view after changes.
///
/// ```swift
/// struct VolumeView: View {
///   @ViewSetting(.volume) var volume
///   @ViewSetting("audio.balance") var balance = 0.0
///
///   var body: some View { Slider(value: $balance) }
/// }
/// ```
///
/// It works like ``Setting``, with a `Binding` as its projected value. The view is updated after a change by any
/// process. As with `@State`, a view keeps the key and the store that it was first created with.
///
/// - Important: This type was never built on a Mac. On Linux, where there is no SwiftUI, it is only parsed, and was
///   checked against substitutes for the declarations that it uses.
@MainActor @propertyWrapper
public struct ViewSetting<Value: Sendable>: DynamicProperty {
  @State private var setting: ObservedSetting<Value>

  /// The setting of a key; without a store, in ``Store/default``.
  public init(_ key: Key<Value>, in store: Store? = nil) {
    _setting = State(
      wrappedValue: ObservedSetting(key, in: store ?? Store.default, toldOn: MainActor.shared))
  }

  /// The setting of a key with the property's own default.
  public init(
    wrappedValue: @autoclosure @escaping @Sendable () -> Value, _ key: Key<Value>, in store: Store? = nil
  ) {
    self.init(Key(key, default: wrappedValue), in: store)
  }

  /// A setting that defines its own key.
  public init(
    wrappedValue: @autoclosure @escaping @Sendable () -> Value, _ name: String, in store: Store? = nil
  ) where Value: Storable {
    self.init(Key(name, default: wrappedValue()), in: store)
  }

  /// A setting that defines its own key, and is nil if nothing is stored.
  public init<Wrapped: Storable>(_ name: String, in store: Store? = nil) where Value == Wrapped? {
    self.init(Key(name), in: store)
  }

  public var wrappedValue: Value {
    get { setting.value }
    nonmutating set { setting.value = newValue }
  }

  /// The binding for the controls of a view, as `$volume`.
  // Kept has its own type named Binding.
  public var projectedValue: SwiftUI.Binding<Value> {
    let setting = setting
    return SwiftUI.Binding(get: { setting.value }, set: { setting.value = $0 })
  }
}
#endif
