// Owners that a user namespace hides: a user of the system who is not mapped to it seems to be "nobody" there.

package import CPlatform

package enum UserNamespace {
  // The number that Linux shows unless an administrator has changed it; then the owner is just another user.
  private static let nobody: uid_t = 65534

  /// Whether a file with this owner may belong to any user outside the namespace of this process, root among them.
  ///
  /// Returns false without `/proc`.
  package static func hides(_ owner: uid_t) -> Bool { owner == nobody && !kept_maps_every_user() }
}
