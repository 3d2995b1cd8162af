// Attachments: objects that a language's API attaches to a store, for one handle or for all handles on a location in
// this process.

import KeptSystem

/// Objects of a language's API, one of each type.
///
/// They are released with the store or handle they are attached to.
final class Attachments: Sendable {
  private let objects = Monitor<[ObjectIdentifier: any AnyObject & Sendable]>([:])

  /// The object of a type, created on first use.
  ///
  /// `make` calls no user code.
  func object<Object: AnyObject & Sendable>(_ make: () -> Object) -> Object {
    objects.update { objects in
      if let object = objects[ObjectIdentifier(Object.self)] as? Object { return object }
      let object = make()
      objects[ObjectIdentifier(Object.self)] = object
      return object
    }
  }
}

extension Store {
  /// The object that belongs to this handle alone.
  package func attachment<Object: AnyObject & Sendable>(_ make: () -> Object) -> Object { attachments.object(make) }

  /// The object that all handles on the location share in this process, while one of them is open.
  package func sharedAttachment<Object: AnyObject & Sendable>(_ make: () -> Object) -> Object {
    shared.attachments.object(make)
  }
}
