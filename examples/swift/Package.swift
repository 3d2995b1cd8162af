// swift-tools-version: 6.2
// Swift programs that use Kept as any other does: as a package. They are no part of Kept's own package, so that nobody
// who depends on Kept builds them.
import PackageDescription

let package = Package(
  name: "examples",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "kept", path: "../..")],
  targets: [
    .executableTarget(name: "DesktopSettings", dependencies: [.product(name: "Kept", package: "kept")]),
    .executableTarget(name: "ExplainKey", dependencies: [.product(name: "Kept", package: "kept")]),
    .executableTarget(name: "WatchChanges", dependencies: [.product(name: "Kept", package: "kept")]),
    .executableTarget(name: "ChangeSettings", dependencies: [.product(name: "Kept", package: "kept")]),
  ]
)
