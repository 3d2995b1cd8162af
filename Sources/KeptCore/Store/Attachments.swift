// What a language's face keeps beside a store: for one handle on it, or for all handles on a location of this process.

/// Objects of a face's own, one of each type; they go with what they accompany.
final class Attachments: Sendable {
  private let objects = Monitor<[ObjectIdentifier: any AnyObject & Sendable]>([:])

  /// The object of a type, made when it is first asked for.
  ///
  /// `make` calls no code of a user.
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
  /// The object that this handle on the store alone has.
  package func attachment<Object: AnyObject & Sendable>(_ make: () -> Object) -> Object { attachments.object(make) }

  /// The object that all handles on the location share in this process, for as long as one of them is open.
  package func sharedAttachment<Object: AnyObject & Sendable>(_ make: () -> Object) -> Object {
    shared.attachments.object(make)
  }
}
