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
    // Writes the keys of a target's files of declarations as code, with the installed command.
    .plugin(name: "KeptKeys", targets: ["KeptKeys"]),
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
        "KeptValues", "KeptSystem", "KeptSchema", "KeptCore",
        .product(name: "Logging", package: "swift-log", condition: .when(traits: ["Logging"])),
        .product(name: "OpenCombine", package: "OpenCombine", condition: .when(traits: ["OpenCombine"])),
        .product(name: "Configuration", package: "swift-configuration", condition: .when(traits: ["Configuration"])),
      ]),

    .target(name: "KeptStorage", dependencies: ["Kept", "KeptValues", "KeptSystem", "KeptSchema", "KeptCore"]),

    .target(name: "KeptUserDefaults", dependencies: ["Kept", "KeptValues", "KeptSystem", "KeptSchema", "KeptCore"]),

    .plugin(name: "KeptKeys", capability: .buildTool()),

    // Implements include/kept.h.
    .target(
      name: "KeptC",
      dependencies: ["KeptValues", "KeptSystem", "KeptSchema", "KeptCore", "CKept", "CPlatform", "CRuntime"]),
    .systemLibrary(name: "CKept", path: "include"),
    // What libkept.so has instead of parts of Swift's runtime.
    .target(name: "CRuntime", publicHeadersPath: "."),

    // The untyped store: storage, layers, observation, transfer.
    .target(
      name: "KeptCore",
      dependencies: ["KeptValues", "KeptSystem", "KeptSchema", "KeptSecrets", "CPlatform", "KeptEngine"]),

    // The encryption of secrets, and the providers of its key.
    .target(name: "KeptSecrets", dependencies: ["KeptValues", "KeptSystem", "CPlatform", "CSodium"]),

    // Declarations: what a key may hold.
    .target(name: "KeptSchema", dependencies: ["KeptValues", "KeptSystem", "CPlatform", "CPCRE2"]),

    // What a store keeps on the disk: a checkpoint, and the journals of the commits since.
    .target(name: "KeptEngine", dependencies: ["KeptValues", "KeptSystem", "CPlatform"]),

    // Files, threads and locks.
    .target(name: "KeptSystem", dependencies: ["KeptValues", "CPlatform"]),

    // Values, keys, JSON and errors.
    .target(name: "KeptValues", dependencies: ["CPlatform"]),

    // What C gives us: the operating system in one header, and module maps onto the system's libraries.
    .systemLibrary(name: "CPlatform"),
    // Only headers (libpcre2-dev): pkg-config would link the library, which is loaded when a pattern is first used.
    .systemLibrary(name: "CPCRE2"),
    // libsodium, which is loaded when a store has secrets.
    .systemLibrary(name: "CSodium"),

    // A program that decides what the system calls of the engine do: for that, it is compiled with KEPT_SIMULATION.
    .target(name: "CSimulation", path: "Tests/simulation/recorder"),
    .target(name: "SimulatedDisk", dependencies: ["CSimulation", "CPlatform"], path: "Tests/simulation/disk"),
    .executableTarget(
      name: "power-loss", dependencies: ["CSimulation", "SimulatedDisk", "KeptEngine", "KeptValues", "KeptSystem"],
      path: "Tests/simulation/power-loss"),
    // Runs the threads of several processes one at a time, as a seed says. For that, the library is compiled with
    // KEPT_SCHEDULES.
    .target(name: "CScheduler", dependencies: ["CSimulation"], path: "Tests/simulation/scheduler"),
    .executableTarget(
      name: "schedules", dependencies: ["CScheduler", "CSimulation", "SimulatedDisk", "KeptC", "CKept"],
      path: "Tests/simulation/schedules"),
    // Damages every byte of a store.
    .target(
      name: "EngineDamage", dependencies: ["KeptEngine", "KeptValues", "KeptSystem", "CPlatform"],
      path: "Tests/simulation/damage"),
    .executableTarget(name: "every-byte", dependencies: ["EngineDamage"], path: "Tests/simulation/every-byte"),
    // The other processes of the engine's tests.
    .executableTarget(
      name: "kept-engine-child",
      dependencies: ["KeptEngine", "KeptCore", "KeptValues", "KeptSystem", "CPlatform"],
      path: "Tests/unit/EngineChild"),
    .testTarget(
      name: "KeptEngineTests",
      dependencies: ["EngineDamage", "KeptEngine", "KeptValues", "KeptSystem", "CPlatform", "kept-engine-child"]),
    .testTarget(
      name: "KeptCoreTests",
      dependencies: [
        "KeptValues", "KeptSystem", "KeptSchema", "KeptSecrets", "KeptEngine", "KeptCore", "CPlatform",
        "kept-test-child",
      ]),
    .testTarget(name: "KeptSecretsTests", dependencies: ["KeptSecrets", "KeptValues", "KeptSystem", "CPlatform"]),
    // The other process of tests that need two.
    .executableTarget(
      name: "kept-test-child", dependencies: ["Kept", "KeptValues", "KeptSystem", "KeptSchema", "KeptCore"],
      path: "Tests/unit/Child"),
    .testTarget(
      name: "KeptCTests", dependencies: ["KeptC", "CKept", "KeptValues", "KeptSystem", "KeptSchema", "KeptCore"]),
    .testTarget(
      name: "KeptUserDefaultsTests",
      dependencies: ["KeptUserDefaults", "Kept", "KeptValues", "KeptSystem", "KeptSchema", "KeptCore"]),
    .testTarget(name: "KeptTests", dependencies: ["Kept", "KeptStorage", "kept-test-child"]),
  ]
)

for target in package.targets where target.type == .test { target.path = "Tests/unit/\(target.name)" }

for target in package.targets where target.type != .system && target.type != .plugin {
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
