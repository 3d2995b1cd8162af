// swift-tools-version: 6.2
// The only list of modules and flags. CMake calls `swift build` and ships what comes out; it names no Swift file.
import PackageDescription

let package = Package(
  name: "kept",
  platforms: [.macOS(.v15)],
  products: [
    .library(name: "Kept", targets: ["Kept"]),
    // For authors of storages: Kept, and the contract of a storage.
    .library(name: "KeptStorage", targets: ["KeptStorage"]),
    // What CMake installs as libkept.so.
    .library(name: "KeptC", type: .dynamic, targets: ["KeptC"]),
    // A storage on a UserDefaults suite, and Foundation's own values; apart, as they need all of Foundation.
    .library(name: "KeptUserDefaults", targets: ["KeptUserDefaults"]),
  ],
  // Integrations with other packages: off unless a program asks for one, and then only what it needs is fetched.
  traits: [
    .trait(name: "Logging", description: "A swift-log error handler."),
    .trait(name: "OpenCombine", description: "Publishers where there is no Combine."),
    .trait(name: "Observation", description: "A model for the Observation framework."),
    .trait(name: "Configuration", description: "A store as a provider of swift-configuration."),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
    .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
    .package(url: "https://github.com/apple/swift-configuration", from: "1.0.0", traits: []),
  ],
  targets: [
    // The Swift API.
    .target(
      name: "Kept",
      dependencies: [
        "KeptCore",
        .product(name: "Logging", package: "swift-log", condition: .when(traits: ["Logging"])),
        .product(name: "OpenCombine", package: "OpenCombine", condition: .when(traits: ["OpenCombine"])),
        .product(name: "Configuration", package: "swift-configuration", condition: .when(traits: ["Configuration"])),
      ]),

    .target(name: "KeptStorage", dependencies: ["Kept", "KeptCore"]),

    .target(name: "KeptUserDefaults", dependencies: ["Kept", "KeptCore"]),

    // Implements include/kept.h.
    .target(name: "KeptC", dependencies: ["KeptCore", "CKept", "CPlatform"]),
    .systemLibrary(name: "CKept", path: "include"),

    // The untyped store.
    .target(name: "KeptCore", dependencies: ["CPlatform", "CSQLite", "CPCRE2"]),

    // What C gives us: the operating system in one header, and module maps onto the system's libraries.
    .systemLibrary(name: "CPlatform"),
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(name: "CPCRE2", pkgConfig: "libpcre2-8", providers: [.apt(["libpcre2-dev"])]),

    .testTarget(name: "KeptCoreTests", dependencies: ["KeptCore", "kept-test-child"]),
    // The other process of tests that need two.
    .executableTarget(name: "kept-test-child", dependencies: ["Kept", "KeptCore"], path: "Tests/unit/Child"),
    .testTarget(name: "KeptCTests", dependencies: ["KeptC", "CKept", "KeptCore"]),
    .testTarget(name: "KeptUserDefaultsTests", dependencies: ["KeptUserDefaults", "Kept", "KeptCore"]),
    .testTarget(name: "KeptTests", dependencies: ["Kept", "KeptStorage", "kept-test-child"]),
  ]
)

for target in package.targets where target.type == .test { target.path = "Tests/unit/\(target.name)" }

for target in package.targets where target.type != .system {
  target.swiftSettings = [
    // SE-0335: a protocol used as a type says so.
    .enableUpcomingFeature("ExistentialAny"),
    // SE-0409: an import is an implementation detail unless it says otherwise.
    .enableUpcomingFeature("InternalImportsByDefault"),
    // SE-0444: a file imports what it uses.
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
  ]
}
