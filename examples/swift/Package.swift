// swift-tools-version: 6.2
// Swift programs that use Kept as a package, like any other program. They are not in Kept's own package, so that
// programs which depend on Kept do not build them.
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
