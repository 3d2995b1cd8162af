// The keys of the GNOME desktop that this program uses, each with its type, default, constraints and summary, as in
// their GSettings schemas.

import Foundation
import Kept

enum PictureOptions: String, CaseIterable, Codable, Storable {
  case none, wallpaper, centered, scaled, stretched, zoom, spanned
}

/// The previous values of the changed keys: an object in C and Python.
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
  static let options = Key(
    "org.gnome.desktop.background.picture-options", default: PictureOptions.zoom, summary: "Picture Options")
  static let opacity = Key(
    "org.gnome.desktop.background.picture-opacity", default: 100, .range(0...100), summary: "Picture Opacity")
  static let color = Key(
    "org.gnome.desktop.background.primary-color", default: "#023c88", summary: "Primary Color")
  static let icons = Key(
    "org.gnome.desktop.background.show-desktop-icons", default: false,
    summary: "Have file manager handle the desktop")
  static let magnification = Key(
    "org.gnome.desktop.a11y.magnifier.mag-factor", default: 2.0, .range(0.1...32), summary: "Magnification factor")
  static let keyboard = Key(
    "org.gnome.desktop.input-sources.xkb-options", default: [String](), summary: "List of XKB options")
  /// Not in a schema, and not declared.
  static let replaced = Key<Replaced?>("org.gnome.desktop.background.replaced")
}
