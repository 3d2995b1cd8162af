// Owners that a user namespace hides: a user of the system who is not mapped to it seems to be "nobody" there.

import CPlatform

enum UserNamespace {
  // What Linux shows unless an administrator has changed it; then the owner is just another user.
  private static let nobody: uid_t = 65534

  /// Whether a file with this owner may belong to any user outside the namespace of this process, root among them.
  ///
  /// Without `/proc` the answer is no.
  static func hides(_ owner: uid_t) -> Bool { owner == nobody && !kept_maps_every_user() }
}
