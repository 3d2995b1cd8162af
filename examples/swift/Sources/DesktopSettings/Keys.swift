// The keys of the GNOME desktop that this program uses, each with its type and its default.

import Foundation
import Kept

enum PictureOptions: String, Codable, Storable {
  case none, wallpaper, centered, scaled, stretched, zoom, spanned
}

/// What the changed keys were before: in C and Python it is an object.
struct Replaced: Codable, Storable {
  var options: PictureOptions
  var opacity: Int
  var color: String
  var icons: Bool
  var magnification: Double
  var keyboard: [String]
  var at: Date
}

extension Keys {
  static let options = Key("org.gnome.desktop.background.picture-options", default: PictureOptions.zoom)
  static let opacity = Key("org.gnome.desktop.background.picture-opacity", default: 100)
  static let color = Key("org.gnome.desktop.background.primary-color", default: "#023c88")
  static let icons = Key("org.gnome.desktop.background.show-desktop-icons", default: false)
  static let magnification = Key("org.gnome.desktop.a11y.magnifier.mag-factor", default: 2.0)
  static let keyboard = Key("org.gnome.desktop.input-sources.xkb-options", default: [String]())
  static let replaced = Key<Replaced?>("org.gnome.desktop.background.replaced")
}
