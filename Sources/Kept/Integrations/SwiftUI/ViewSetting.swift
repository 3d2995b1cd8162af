// A setting as a property of a view. Only parsed and checked against a stand-in so far: no Mac has built it yet.

#if canImport(SwiftUI)
public import KeptCore
public import SwiftUI

/// Makes a property of a SwiftUI view read and write a key, and the view follow it.
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
/// It is what ``Setting`` is elsewhere, with a `Binding` as its projected value. The view is drawn anew after a change
/// of any process. As with `@State`, a view keeps the key and the store that it was first made with.
///
/// - Important: No Mac has built it yet. On Linux, where there is no SwiftUI, it is only parsed, and was checked
///   against a stand-in for the declarations that it uses.
@MainActor @propertyWrapper
public struct ViewSetting<Value: Sendable>: DynamicProperty {
  @State private var setting: ObservedSetting<Value>

  /// The setting of a key; without a store in ``Store/default``.
  public init(_ key: Key<Value>, in store: Store? = nil) {
    _setting = State(
      wrappedValue: ObservedSetting(key, in: store ?? Store.default, toldOn: MainActor.shared))
  }

  /// The setting of a key with a default of the property's own.
  public init(
    wrappedValue: @autoclosure @escaping @Sendable () -> Value, _ key: Key<Value>, in store: Store? = nil
  ) {
    self.init(Key(key, default: wrappedValue), in: store)
  }

  /// A setting with a key of its own.
  public init(
    wrappedValue: @autoclosure @escaping @Sendable () -> Value, _ name: String, in store: Store? = nil
  ) where Value: Storable {
    self.init(Key(name, default: wrappedValue()), in: store)
  }

  /// A setting with a key of its own, which is nil where nothing is stored.
  public init<Wrapped: Storable>(_ name: String, in store: Store? = nil) where Value == Wrapped? {
    self.init(Key(name), in: store)
  }

  public var wrappedValue: Value {
    get { setting.value }
    nonmutating set { setting.value = newValue }
  }

  /// `$volume`: for the controls of a view.
  // Kept has a Binding of its own.
  public var projectedValue: SwiftUI.Binding<Value> {
    let setting = setting
    return SwiftUI.Binding(get: { setting.value }, set: { setting.value = $0 })
  }
}
#endif
