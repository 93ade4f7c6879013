// swift-tools-version:6.2
import CompilerPluginSupport
import Foundation
import PackageDescription

let environment = ProcessInfo.processInfo.environment

/// The settings of all Swift targets.
var strict: [SwiftSetting] = [.swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny")]
/// The settings of the targets in which tests spend their time. The Makefile optimizes them in debug builds too, with
/// assertions, which halves the time of the tests. Such flags bar a package from use as a dependency, so they depend on
/// an environment variable.
var product: [SwiftSetting] { strict + optimized }
let optimized: [SwiftSetting] =
    environment["TANDEM_OPTIMIZE"] == "1" ? [.unsafeFlags(["-O", "-assert-config", "Debug"])] : []
// Warnings are errors if CI builds this package, but never for packages that depend on it.
if environment["TANDEM_STRICT"] == "1" { strict.append(.treatAllWarnings(as: .error)) }
// `make tsan` needs locks that the thread sanitizer understands.
if environment["TANDEM_TSAN"] == "1" { strict.append(.define("TANDEM_TSAN")) }

var dependencies: [Package.Dependency] = [
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
    .package(url: "https://github.com/attaswift/BigInt", from: "6.0.1"),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    .package(url: "https://github.com/swiftlang/swift-syntax", "602.0.0"..<"605.0.0"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    // The following packages are built only for users of TandemDatasync, TandemKinto, TandemServer, PageServer or
    // `tandem`: see Scripts/check-graph.sh.
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
    .package(url: "https://github.com/hummingbird-project/swift-mustache", from: "2.1.1"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
    .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
]

// Only `make docs` needs the documentation plugin. It must stay out of users' dependency graphs.
if environment["TANDEM_DOCS"] == "1" {
    dependencies.append(.package(url: "https://github.com/swiftlang/swift-docc-plugin", from: "1.4.0"))
}

let package = Package(
    name: "Tandem",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "Tandem", targets: ["Tandem"]),
        .library(name: "SQLiteCipher", targets: ["SQLiteCipher"]),
        .library(name: "TandemSync", targets: ["TandemSync"]),
        .library(name: "TandemTesting", targets: ["TandemTesting"]),
        .library(name: "TandemDatasync", targets: ["TandemDatasync"]),
        .library(name: "TandemKinto", targets: ["TandemKinto"]),
        .library(name: "TandemServer", targets: ["TandemServer"]),
        .library(name: "PageServer", targets: ["PageServer"]),
        .executable(name: "tandem-server", targets: ["tandem-server"]),
        .executable(name: "tandem", targets: ["TandemCommand"]),
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
            swiftSettings: product
        ),
        // Synchronization of a store with a server, for any protocol. Uses no network.
        .target(
            name: "TandemSync",
            dependencies: [
                "Tandem",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "OpenCombine", package: "OpenCombine"),
            ],
            swiftSettings: product
        ),
        // The parts of any protocol over HTTP: transports, credentials, addresses, files. Opens no socket.
        .target(
            name: "RemoteHTTP",
            dependencies: ["Tandem", "TandemSync", .product(name: "HTTPTypes", package: "swift-http-types")],
            swiftSettings: product
        ),
        // The protocols of Azure Mobile Apps and Datasync as bytes. Opens no socket: a transport does.
        .target(
            name: "DatasyncWire",
            dependencies: [
                "RemoteHTTP", "Tandem", "TandemSync", .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: product
        ),
        // The protocol of Kinto as bytes. Opens no socket: a transport does.
        .target(
            name: "KintoWire",
            dependencies: [
                "RemoteHTTP", "Tandem", "TandemSync", .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: product
        ),
        // Encrypted databases for stock SQLite, and encrypted files. Independent of Tandem.
        .target(
            name: "SQLiteCipher",
            dependencies: [
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
            ],
            swiftSettings: product
        ),
        // SQLite's preupdate hook, which the system's headers omit.
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
        .target(
            name: "TandemTesting",
            dependencies: ["Tandem", "TandemSync", .product(name: "Crypto", package: "swift-crypto")],
            swiftSettings: product
        ),
        // The request handling of a development server, without a socket. It shares no code with a client, so that an
        // error can't hide on both sides.
        .target(
            name: "TandemServerCore",
            dependencies: [
                "Tandem", .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: product
        ),
        // The transport of RemoteHTTP over sockets.
        .target(
            name: "TandemHTTP",
            dependencies: [
                "RemoteHTTP", "TandemSync",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "NIOHTTPCompression", package: "swift-nio-extras"),
            ],
            swiftSettings: strict
        ),
        // The protocols of DatasyncWire over sockets.
        .target(
            name: "TandemDatasync",
            dependencies: [
                "DatasyncWire", "RemoteHTTP", "TandemHTTP", "TandemSync",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: strict
        ),
        // The protocol of KintoWire over sockets.
        .target(
            name: "TandemKinto",
            dependencies: [
                "KintoWire", "RemoteHTTP", "TandemHTTP", "TandemSync",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: strict
        ),
        // TandemServerCore behind a socket, for development and tests.
        .target(
            name: "TandemServer",
            dependencies: [
                "TandemServerCore",
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "HummingbirdTLS", package: "hummingbird"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "tandem-server",
            dependencies: [
                "TandemServer", .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: strict
        ),
        // The commands of `tandem`, which reads and maintains stores without their app.
        .target(
            name: "TandemInspector",
            dependencies: [
                "Tandem", .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "OpenCombine", package: "OpenCombine"),
            ],
            swiftSettings: strict
        ),
        // Sessions, security headers, templates and event streams of pages that a process serves to browsers. It knows
        // no store. The example app uses it too.
        .target(
            name: "PageServer",
            dependencies: [
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Mustache", package: "swift-mustache"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            swiftSettings: strict
        ),
        // The pages of `tandem browse`.
        .target(
            name: "TandemBrowser",
            dependencies: [
                "PageServer", "Tandem", "TandemInspector",
                .product(name: "BigInt", package: "BigInt"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            // A copy, not embedded code: byte arrays of this size compile slowly.
            resources: [.copy("Resources")],
            swiftSettings: strict
        ),
        // Its executable. A target named `tandem` would differ from the library's only by case.
        .executableTarget(
            name: "TandemCommand", dependencies: ["TandemBrowser", "TandemInspector"], swiftSettings: strict),
        // Traits that let tests block, and that limit the number of started processes.
        .target(name: "TestSupport", path: "Tests/Support", swiftSettings: strict),
        // A second local store, in memory, and the requirements of one. Tests compare Tandem's store with them. It also
        // has transactions and remotes that forward to others.
        .target(
            name: "LocalStoreSupport", dependencies: ["Tandem", "TandemSync"], path: "Tests/LocalStoreSupport",
            swiftSettings: product),
        // A process that tests start, to kill it or to share a store with it.
        .executableTarget(
            name: "TandemTestPeer",
            dependencies: [
                "Tandem", "TandemTestScript", "TandemTesting", .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ],
            path: "Tests/TandemTestPeer", swiftSettings: strict),
        // The script of that process, and the expected contents of the store.
        .target(
            name: "TandemTestScript", dependencies: ["Tandem", "TandemTesting"], path: "Tests/TandemTestScript",
            swiftSettings: strict),
        // Prints collation keys, which `make interop` compares with ICU's.
        .executableTarget(
            name: "CollationTestPeer", dependencies: ["Tandem"], path: "Tests/CollationTestPeer",
            swiftSettings: product),
        .testTarget(
            name: "TandemTests",
            dependencies: [
                "TestSupport",
                "Tandem", "TandemTesting", "TandemTestScript",
                .product(name: "BigInt", package: "BigInt"),
                .product(name: "OpenCombine", package: "OpenCombine"),
            ],
            exclude: ["Docs/Preludes", "Text/collation-vectors.txt", "Text/folding-strings.txt"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "TandemInspectorTests",
            dependencies: [
                "TestSupport", "TandemInspector", "Tandem", "TandemTesting",
                .product(name: "BigInt", package: "BigInt"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "TandemBrowserTests",
            dependencies: [
                "TestSupport", "PageServer", "TandemBrowser", "TandemInspector", "Tandem", "TandemTesting",
                .product(name: "BigInt", package: "BigInt"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdTesting", package: "hummingbird"),
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            swiftSettings: strict
        ),
        // A process that tests start in its own network namespace, to change its interfaces.
        .executableTarget(
            name: "NetworkMonitorPeer", dependencies: ["TandemSync"], path: "Tests/NetworkMonitorPeer",
            swiftSettings: strict),
        .testTarget(
            name: "TandemSyncTests",
            dependencies: [
                "LocalStoreSupport", "TestSupport",
                "TandemSync", "DatasyncWire", "TandemServerCore", "Tandem", "TandemTesting",
                .product(name: "BigInt", package: "BigInt"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "OpenCombine", package: "OpenCombine"),
            ],
            exclude: ["EarlierStores/Fixtures"],
            swiftSettings: strict
        ),
        // Random histories of devices and a server. They run as long as their time limit allows.
        .testTarget(
            name: "TandemSimulationTests",
            dependencies: [
                "LocalStoreSupport", "TestSupport",
                "TandemSync", "DatasyncWire", "TandemServerCore", "Tandem", "TandemTesting",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "TandemServerCoreTests",
            dependencies: [
                "TestSupport",
                "TandemServerCore", "Tandem", "TandemTesting",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: strict
        ),
        // A process that tests start, to kill it or to share an encrypted database with it.
        .executableTarget(
            name: "SQLiteCipherTestPeer",
            dependencies: ["SQLiteCipher", .product(name: "GRDB", package: "GRDB.swift")],
            path: "Tests/SQLiteCipherTestPeer", swiftSettings: strict),
        .testTarget(
            name: "TandemWireTests",
            dependencies: [
                "TestSupport",
                "DatasyncWire", "TandemSync", "Tandem", "TandemTesting",
                .product(name: "BigInt", package: "BigInt"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "KintoWireTests",
            dependencies: [
                "TestSupport",
                "TandemKinto", "KintoWire", "RemoteHTTP", "TandemSync", "Tandem", "TandemTesting",
                .product(name: "BigInt", package: "BigInt"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "TandemDatasyncTests",
            dependencies: [
                "TestSupport",
                "TandemDatasync", "TandemHTTP", "TandemServer", "TandemServerCore", "TandemSync", "TandemTesting",
                "Tandem",
                "tandem-server", .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ],
            swiftSettings: strict
        ),
        // The client with which `make interop` sends files to an S3 server.
        .executableTarget(
            name: "SignedFilesTestPeer",
            dependencies: [
                "TandemDatasync", "TandemServer", "TandemSync", "Tandem",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            path: "Tests/SignedFilesTestPeer", swiftSettings: strict),
        // The devices with which `make interop` synchronizes with Kinto.
        .executableTarget(
            name: "KintoTestPeer", dependencies: ["TandemKinto", "TandemSync", "Tandem", "TandemTesting"],
            path: "Tests/KintoTestPeer", swiftSettings: strict),
        // A process that tests start, to kill it during a sync.
        .executableTarget(
            name: "TandemSyncTestPeer",
            dependencies: ["TandemSyncTestScript", "TandemSync", "Tandem", "TandemTesting"],
            path: "Tests/TandemSyncTestPeer", swiftSettings: strict),
        // The script of that process, and the expected result.
        .target(
            name: "TandemSyncTestScript",
            dependencies: ["LocalStoreSupport", "TandemDatasync", "TandemSync", "Tandem", "TandemTesting"],
            path: "Tests/TandemSyncTestScript", swiftSettings: strict),
        .testTarget(
            name: "TandemSyncProcessTests",
            dependencies: [
                "TestSupport",
                "TandemSyncTestScript", "TandemServerCore", "TandemDatasync", "TandemSync", "Tandem", "TandemTesting",
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "SQLiteCipherTests",
            dependencies: ["TestSupport", "SQLiteCipher", .product(name: "GRDB", package: "GRDB.swift")],
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

// SwiftPM builds tests of a macro's code as build tools, and also all tests beside them and their dependencies.
// BoringSSL, SwiftNIO and Tandem itself would be compiled twice. The macro tests are therefore a separate build, which
// `make test` selects by this variable.
let testsMacros = environment["TANDEM_MACRO_TESTS"] == "1"
package.targets.removeAll { $0.type == .test && ($0.name == "TandemMacrosTests") != testsMacros }
