// URLs in a suite: UserDefaults reads text as a file path, and any URL from an archived NSURL.

import Foundation

enum ArchivedURL {
  /// The text of an archived NSURL; nil for other bytes.
  static func text(in data: Data) -> String? {
    // Foundation may abort on data that is not an archive, so only data in that form is passed to it.
    guard data.starts(with: "bplist".utf8) || data.starts(with: "<?xml".utf8),
      let archive = try? PropertyListSerialization.propertyList(from: data, options: [], format: nil),
      let members = archive as? [String: Any], members["$archiver"] as? String == "NSKeyedArchiver",
      let objects = members["$objects"] as? [Any],
      objects.contains(where: { ($0 as? [String: Any])?["$classname"] as? String == "NSURL" }),
      let url = try? NSKeyedUnarchiver.unarchivedObject(ofClass: NSURL.self, from: data)
    else { return nil }
    return url.absoluteString
  }

  /// The archive that decodes to a text, for `UserDefaults.url(forKey:)`; nil if there is none.
  static func data(of text: String) -> Data? {
    guard let url = NSURL(string: text),
      let data = try? NSKeyedArchiver.archivedData(withRootObject: url, requiringSecureCoding: true),
      self.text(in: data).map({ $0.utf8.elementsEqual(text.utf8) }) == true
    else { return nil }
    return data
  }

  /// Whether a text is the URL of a file, which UserDefaults would treat as a path.
  static func isFile(_ text: String) -> Bool { text.utf8.starts(with: "file://".utf8) }
}
