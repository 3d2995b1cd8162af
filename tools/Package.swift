// swift-tools-version: 6.2
// The command `kept`. A package of its own, so that programs that use the library fetch nothing for it.
import PackageDescription

let package = Package(
  name: "kept-tools",
  platforms: [.macOS(.v15)],
  products: [.executable(name: "kept", targets: ["kept"])],
  dependencies: [
    .package(name: "kept", path: ".."),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
  ],
  targets: [
    .executableTarget(
      name: "kept",
      dependencies: [
        .product(name: "Kept", package: "kept"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      // A link to docs/command.md, which `kept help` shows.
      resources: [.embedInCode("command.md")],
      swiftSettings: [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .treatAllWarnings(as: .error),
      ])
  ]
)
