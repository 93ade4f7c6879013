// swift-tools-version:6.2
import PackageDescription

// A separate package, so that users of Tandem do not build it. `make bench` runs it.
let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "Tandem", path: ".."),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/attaswift/BigInt", from: "6.0.1"),
        .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    ],
    targets: [
        // The C library's heap statistics, which Swift does not expose.
        .target(name: "HeapSize"),
        .executableTarget(
            name: "Benchmarks",
            dependencies: [
                "HeapSize",
                .product(name: "Tandem", package: "Tandem"),
                .product(name: "TandemSync", package: "Tandem"),
                .product(name: "TandemDatasync", package: "Tandem"),
                .product(name: "TandemKinto", package: "Tandem"),
                .product(name: "TandemServer", package: "Tandem"),
                .product(name: "TandemTesting", package: "Tandem"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
                .product(name: "BigInt", package: "BigInt"),
                .product(name: "OpenCombine", package: "OpenCombine"),
            ],
            // NB: Warnings stay warnings here. In debug builds, Swift 6.3's module emission warns about the `try`
            // before a throwing accessor (`SyncedStore.opened`). According to the warning, the `try` covers nothing,
            // but the build fails without it.
            swiftSettings: [
                .swiftLanguageMode(.v6),
                .enableUpcomingFeature("ExistentialAny"),
            ]
        ),
    ]
)
