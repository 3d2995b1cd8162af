// swift-tools-version: 6.2
// Measures reading in Swift: swift run -c release --package-path benchmarks/swift
import PackageDescription

let package = Package(
  name: "kept-benchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "kept", path: "../..")],
  targets: [.executableTarget(name: "reads", dependencies: [.product(name: "Kept", package: "kept")])]
)
