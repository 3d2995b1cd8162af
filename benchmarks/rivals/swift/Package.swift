// swift-tools-version: 6.2
// The rows of Swift: scripts/bench builds and runs them with the others.
import PackageDescription

let package = Package(
  name: "kept-benchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "kept", path: "../../..")],
  targets: [
    .executableTarget(name: "face", dependencies: [.product(name: "Kept", package: "kept")]),
    .executableTarget(name: "survivor"),
  ]
)
