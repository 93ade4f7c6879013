// swift-tools-version:6.2
import PackageDescription

// Warnings are errors if CI builds this package.
let settings: [SwiftSetting] =
    [.swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny")]
    + (Context.environment["TANDEM_STRICT"] == "1" ? [.treatAllWarnings(as: .error)] : [])

let package = Package(
    name: "DiscountCards",
    platforms: [.macOS(.v15)],
    products: [.executable(name: "cards", targets: ["DiscountCards"])],
    dependencies: [
        .package(name: "Tandem", path: "../.."),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
        .package(url: "https://github.com/attaswift/BigInt", from: "6.0.1"),
        .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        .executableTarget(
            name: "DiscountCards",
            dependencies: [
                .product(name: "Tandem", package: "Tandem"),
                .product(name: "TandemSync", package: "Tandem"),
                .product(name: "TandemDatasync", package: "Tandem"),
                .product(name: "TandemKinto", package: "Tandem"),
                .product(name: "TandemServer", package: "Tandem"),
                .product(name: "TandemTesting", package: "Tandem"),
                .product(name: "PageServer", package: "Tandem"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "BigInt", package: "BigInt"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "OpenCombine", package: "OpenCombine"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            // A copy, not embedded code: byte arrays of this size compile slowly.
            resources: [.copy("Web/Resources")],
            swiftSettings: settings
        ),
        .testTarget(
            name: "DiscountCardsTests",
            dependencies: [
                "DiscountCards", .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "PageServer", package: "Tandem"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdTesting", package: "hummingbird"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "OpenCombine", package: "OpenCombine"),
            ],
            swiftSettings: settings),
    ]
)
