// swift-tools-version: 6.2
// The fuzz targets are a package of their own, so that users do not build them. Run it with scripts/fuzz.
import PackageDescription

let package = Package(
  name: "fuzz",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "kept", path: "../../.."), .package(name: "kept-command", path: "../../../apps/command"),
  ],
  targets: [
    .executableTarget(name: "JSONFuzz", dependencies: ["CFuzzer", .product(name: "Kept", package: "kept")]),
    .executableTarget(
      name: "FormatsFuzz",
      dependencies: [
        "CFuzzer", .product(name: "Kept", package: "kept"), .product(name: "Formats", package: "kept-command"),
      ]),
    .executableTarget(name: "CallsFuzz", dependencies: ["CFuzzer", "Calls", .product(name: "KeptC", package: "kept")]),
    // The interpreter of Tests/c/calls, through a symbolic link: a target's files are inside its package.
    .target(name: "Calls", exclude: ["CMakeLists.txt", "replay.c"], publicHeadersPath: "include"),
    // libFuzzer's entry point, as a header.
    .target(name: "CFuzzer"),
  ]
)
