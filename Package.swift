// swift-tools-version:6.1
import CompilerPluginSupport
import Foundation
import PackageDescription

/// Warnings are errors in this package's own code when CI builds it, never for those who depend on it.
let strict: [SwiftSetting] =
    [
        .swiftLanguageMode(.v6),
        .enableUpcomingFeature("ExistentialAny"),
        // `make tsan` asks for locks that the thread sanitizer knows.
    ] + (ProcessInfo.processInfo.environment["TANDEM_TSAN"] == "1" ? [.define("TANDEM_TSAN")] : [])

var dependencies: [Package.Dependency] = [
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
    .package(url: "https://github.com/attaswift/BigInt", from: "6.0.1"),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    .package(url: "https://github.com/swiftlang/swift-syntax", "602.0.0"..<"605.0.0"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
]

// The documentation plugin is asked for by `make docs` alone, so that it stays out of users' graphs.
if ProcessInfo.processInfo.environment["TANDEM_DOCS"] == "1" {
    dependencies.append(.package(url: "https://github.com/swiftlang/swift-docc-plugin", from: "1.4.0"))
}

let package = Package(
    name: "Tandem",
    platforms: [.macOS(.v14), .iOS(.v17), .tvOS(.v17), .watchOS(.v10), .visionOS(.v1)],
    products: [
        .library(name: "Tandem", targets: ["Tandem"]),
        .library(name: "SQLiteCipher", targets: ["SQLiteCipher"]),
        .library(name: "TandemTesting", targets: ["TandemTesting"]),
    ],
    dependencies: dependencies,
    targets: [
        .target(
            name: "Tandem",
            dependencies: [
                "TandemMacros",
                "SQLitePreupdate",
                "SQLiteCipher",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
                .product(name: "OpenCombine", package: "OpenCombine"),
                .product(name: "BigInt", package: "BigInt"),
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            swiftSettings: strict
        ),
        // What a store and a server say to each other, whatever the wire. Knows no network.
        .target(
            name: "TandemSync",
            dependencies: ["Tandem", .product(name: "Crypto", package: "swift-crypto")],
            swiftSettings: strict
        ),
        // The wires of Azure Mobile Apps and Datasync as bytes. Opens no socket: a transport does.
        .target(
            name: "DatasyncWire",
            dependencies: ["Tandem", "TandemSync", .product(name: "HTTPTypes", package: "swift-http-types")],
            swiftSettings: strict
        ),
        // Encrypted databases for stock SQLite, and encrypted files. Knows nothing of Tandem.
        .target(
            name: "SQLiteCipher",
            dependencies: [
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
            ],
            swiftSettings: strict
        ),
        // SQLite's preupdate hook, which the headers leave out.
        .target(name: "SQLitePreupdate"),
        .macro(
            name: "TandemMacros",
            dependencies: [
                .product(name: "SwiftSyntax", package: "swift-syntax"),
                .product(name: "SwiftSyntaxMacros", package: "swift-syntax"),
                .product(name: "SwiftSyntaxBuilder", package: "swift-syntax"),
                .product(name: "SwiftParser", package: "swift-syntax"),
                .product(name: "SwiftDiagnostics", package: "swift-syntax"),
                .product(name: "SwiftCompilerPlugin", package: "swift-syntax"),
            ],
            swiftSettings: strict
        ),
        .target(name: "TandemTesting", dependencies: ["Tandem", "TandemSync"], swiftSettings: strict),
        // What a server to develop against answers, without a socket. Shares no code with a client, so that one mistake
        // can't pass on both sides.
        .target(
            name: "TandemServerCore",
            dependencies: ["Tandem", .product(name: "HTTPTypes", package: "swift-http-types")],
            swiftSettings: strict
        ),
        // A process that tests start beside themselves, to kill it or to share a store with it.
        .executableTarget(
            name: "TandemTestPeer",
            dependencies: ["Tandem", "TandemTestScript", .product(name: "GRDBSQLite", package: "GRDB.swift")],
            path: "Tests/TandemTestPeer", swiftSettings: strict),
        // What that process does, and what must be in the store then.
        .target(
            name: "TandemTestScript", dependencies: ["Tandem", "TandemTesting"], path: "Tests/TandemTestScript",
            swiftSettings: strict),
        .testTarget(
            name: "TandemTests",
            dependencies: [
                "Tandem", "TandemTesting", "TandemTestScript",
                .product(name: "BigInt", package: "BigInt"),
                .product(name: "OpenCombine", package: "OpenCombine"),
            ],
            exclude: ["Text/folding-strings.txt"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "TandemSyncTests",
            dependencies: [
                "TandemSync", "DatasyncWire", "TandemServerCore", "Tandem", "TandemTesting",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "TandemServerCoreTests",
            dependencies: [
                "TandemServerCore", "Tandem", "TandemTesting", .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: strict
        ),
        // A process that tests start beside themselves, to kill it or to share an encrypted database with it.
        .executableTarget(
            name: "SQLiteCipherTestPeer",
            dependencies: ["SQLiteCipher", .product(name: "GRDB", package: "GRDB.swift")],
            path: "Tests/SQLiteCipherTestPeer", swiftSettings: strict),
        .testTarget(
            name: "TandemWireTests",
            dependencies: [
                "DatasyncWire", "TandemSync", "Tandem", "TandemTesting",
                .product(name: "BigInt", package: "BigInt"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "SQLiteCipherTests",
            dependencies: ["SQLiteCipher", .product(name: "GRDB", package: "GRDB.swift")],
            swiftSettings: strict
        ),
        .testTarget(
            name: "TandemMacrosTests",
            dependencies: [
                "TandemMacros",
                .product(name: "SwiftSyntax", package: "swift-syntax"),
                .product(name: "SwiftSyntaxMacros", package: "swift-syntax"),
                .product(name: "SwiftSyntaxMacroExpansion", package: "swift-syntax"),
                .product(name: "SwiftParser", package: "swift-syntax"),
                .product(name: "SwiftDiagnostics", package: "swift-syntax"),
            ],
            swiftSettings: strict
        ),
    ]
)
