// swift-tools-version: 6.2
// Tests of what Kept offers only with package traits. This is a separate package, so that its dependencies are fetched
// only for these tests. Run it with: swift test --package-path Tests/unit/Traits
import PackageDescription

let package = Package(
  name: "traits",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "kept", path: "../../..", traits: ["Logging", "OpenCombine", "Observation", "Configuration"]),
    .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
    .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
    .package(url: "https://github.com/apple/swift-configuration", from: "1.0.0", traits: []),
  ],
  targets: [
    .testTarget(
      name: "LoggingTests",
      dependencies: [
        .product(name: "Kept", package: "kept"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "InMemoryLogging", package: "swift-log"),
      ]),
    .testTarget(
      name: "ConfigurationTests",
      dependencies: [
        "kept-writer", "kept-watcher",
        .product(name: "Kept", package: "kept"),
        .product(name: "KeptStorage", package: "kept"),
        .product(name: "Configuration", package: "swift-configuration"),
        .product(name: "ConfigurationTesting", package: "swift-configuration"),
      ]),
    .testTarget(
      name: "OpenCombineTests",
      dependencies: [
        "Stores",
        .product(name: "Kept", package: "kept"),
        .product(name: "OpenCombine", package: "OpenCombine"),
      ]),
    .testTarget(name: "ObservationTests", dependencies: ["Stores", .product(name: "Kept", package: "kept")]),
    // Shared by the tests of publishers and of observed settings.
    .target(
      name: "Stores", dependencies: ["kept-writer", .product(name: "Kept", package: "kept")], path: "Tests/Stores"),
    // The second process of tests that need two: one that writes, and one that may only read.
    .executableTarget(
      name: "kept-writer", dependencies: [.product(name: "Kept", package: "kept")], path: "Tests/Writer"),
    .executableTarget(
      name: "kept-watcher",
      dependencies: [
        .product(name: "Kept", package: "kept"),
        .product(name: "Configuration", package: "swift-configuration"),
      ],
      path: "Tests/Watcher"),
  ]
)

// As in the main package.
for target in package.targets {
  target.swiftSettings = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
  ]
}
