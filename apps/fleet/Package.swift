// swift-tools-version: 6.2
// The command `kept-fleet`. A package of its own, so that neither programs that use the library nor those who build
// `kept` fetch gRPC.
import PackageDescription

let package = Package(
  name: "kept-fleet",
  platforms: [.macOS(.v15)],
  products: [.executable(name: "kept-fleet", targets: ["kept-fleet"])],
  dependencies: [
    .package(name: "kept", path: "../.."),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
    .package(url: "https://github.com/apple/swift-asn1", from: "1.5.0"),
    .package(url: "https://github.com/apple/swift-certificates", from: "1.19.0"),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.90.0"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.0"),
    // Its traits would bring in all of Foundation, and make the program twice as large.
    .package(url: "https://github.com/apple/swift-protobuf", from: "1.39.0", traits: []),
    .package(url: "https://github.com/grpc/grpc-swift-2", from: "2.4.0"),
    .package(url: "https://github.com/grpc/grpc-swift-nio-transport", from: "2.9.0"),
    .package(url: "https://github.com/grpc/grpc-swift-protobuf", from: "2.4.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
  ],
  targets: [
    // A client of etcd: stubs that are generated from etcd.proto, and sessions with one member at a time.
    .target(
      name: "Etcd",
      dependencies: [
        .product(name: "GRPCCore", package: "grpc-swift-2"),
        .product(name: "GRPCNIOTransportHTTP2Posix", package: "grpc-swift-nio-transport"),
        .product(name: "GRPCProtobuf", package: "grpc-swift-protobuf"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
        .product(name: "NIOTLS", package: "swift-nio"),
        .product(name: "SwiftASN1", package: "swift-asn1"),
        .product(name: "SwiftProtobuf", package: "swift-protobuf"),
        .product(name: "X509", package: "swift-certificates"),
      ],
      exclude: ["etcd.proto"]),
    // What the command does, without its words.
    .target(
      name: "Fleet",
      dependencies: [
        "Etcd",
        .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "Kept", package: "kept"),
        .product(name: "Logging", package: "swift-log"),
      ]),
    .executableTarget(
      name: "kept-fleet",
      dependencies: [
        "CKeptVersion", "CommandPages", "Etcd", "Fleet",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Kept", package: "kept"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        .product(name: "UnixSignals", package: "swift-service-lifecycle"),
      ],
      resources: [.embedInCode("manual.1")]),
    // A link to the target of `kept`.
    .target(
      name: "CommandPages",
      dependencies: [
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Kept", package: "kept"),
      ]),
    // The version, from the library's header.
    .systemLibrary(name: "CKeptVersion"),
    // A fleet in one process, for apps/fleet/benchmarks; it is not installed.
    .executableTarget(
      name: "fleet-simulation",
      dependencies: [
        "Etcd", "Fleet",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]),
  ]
)

for target in package.targets where target.type != .system {
  target.swiftSettings = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .treatAllWarnings(as: .error),
  ]
}
