import Foundation
import NIOSSL

/// A certificate that signs itself, made anew by openssl.
struct TestCertificate {
    let pem: String
    let keyPEM: String

    static let isPossible = FileManager.default.isExecutableFile(atPath: openssl)
    private static let openssl = "/usr/bin/openssl"

    /// For a name like `DNS:localhost` or `IP:127.0.0.1`.
    init(for name: String = "IP:127.0.0.1", days: Int = 2) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tandem-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: Self.openssl)
        process.arguments = [
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "\(days)",
            "-subj", "/CN=Tandem test", "-addext", "subjectAltName=\(name)",
            "-keyout", folder.appendingPathComponent("key").path, "-out", folder.appendingPathComponent("cert").path,
        ]
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        pem = try String(contentsOf: folder.appendingPathComponent("cert"), encoding: .utf8)
        keyPEM = try String(contentsOf: folder.appendingPathComponent("key"), encoding: .utf8)
    }

    /// What a server needs to show it.
    func context() throws -> NIOSSLContext {
        try NIOSSLContext(
            configuration: .makeServerConfiguration(
                certificateChain: NIOSSLCertificate.fromPEMBytes(Array(pem.utf8)).map { .certificate($0) },
                privateKey: .privateKey(NIOSSLPrivateKey(bytes: Array(keyPEM.utf8), format: .pem))))
    }
}
