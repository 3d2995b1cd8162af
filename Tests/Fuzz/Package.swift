// swift-tools-version: 6.2
// The fuzz target is a package of its own, so that it is no part of what users build. Run it with scripts/fuzz.
import PackageDescription

let package = Package(
  name: "fuzz",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "kept", path: "../..")],
  targets: [
    .executableTarget(name: "JSONFuzz", dependencies: ["CFuzzer", .product(name: "Kept", package: "kept")]),
    // libFuzzer's entry point, as a header.
    .target(name: "CFuzzer"),
  ]
)
