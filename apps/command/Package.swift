// swift-tools-version: 6.2
// The command `kept`. A package of its own, so that programs that use the library fetch nothing for it.
import PackageDescription

let package = Package(
  name: "kept-command",
  platforms: [.macOS(.v15)],
  products: [
    .executable(name: "kept", targets: ["kept"]),
    .executable(name: "kept-formats", targets: ["kept-formats"]),
    // For the fuzzer.
    .library(name: "Formats", targets: ["Formats", "FormatLibraries"]),
  ],
  dependencies: [
    .package(name: "kept", path: "../.."),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
    .package(url: "https://github.com/LebJe/TOMLKit", from: "0.6.0"),
    .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
  ],
  targets: [
    // The formats of other programs that `kept import` reads.
    .target(name: "Formats", dependencies: [.product(name: "Kept", package: "kept")]),
    .target(
      name: "FormatLibraries",
      dependencies: [
        "Formats",
        .product(name: "Kept", package: "kept"),
        .product(name: "TOMLKit", package: "TOMLKit"),
        .product(name: "Yams", package: "Yams"),
      ]),
    // The source files and pages that `kept generate` writes.
    .target(name: "Generation", dependencies: ["CommandPages", .product(name: "Kept", package: "kept")]),
    .executableTarget(
      name: "kept-formats",
      dependencies: ["Formats", "FormatLibraries", "Generation", .product(name: "Kept", package: "kept")]),
    .executableTarget(
      name: "kept",
      dependencies: [
        "CKeptVersion", "CommandPages", "Formats",
        .product(name: "Kept", package: "kept"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      // Links to pages of docs/guide, which `kept help` shows.
      resources: [.embedInCode("command.md"), .embedInCode("errors.md")]),
    // The options of commands, and pages of the manual; a part of kept-fleet, too.
    .target(
      name: "CommandPages",
      dependencies: [
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Kept", package: "kept"),
      ]),
    // The version, from the library's header.
    .systemLibrary(name: "CKeptVersion"),
  ]
)

for target in package.targets where target.type != .system {
  target.swiftSettings = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
  ]
}
