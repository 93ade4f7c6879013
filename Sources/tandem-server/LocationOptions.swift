import ArgumentParser
import TandemServer

/// Options for the server's address and the location of its rows.
struct LocationOptions: ParsableArguments {
    @Option(help: "The address to listen on. Other machines may be able to connect, unless it is 127.0.0.1.")
    var host = "127.0.0.1"

    @Option(help: "The port to listen on; 0 for a free one.")
    var port = 8080

    @Option(
        help: ArgumentHelp("The store for rows. Without it, rows are lost when the server stops.", valueName: "file"))
    var store: String?

    @Option(
        help: ArgumentHelp(
            "The folder for files, created if missing. Without it, no files are served.",
            valueName: "folder"))
    var files: String?

    @Option(help: ArgumentHelp("The certificate for TLS, as PEM.", valueName: "file"))
    var certificate: String?

    @Option(help: ArgumentHelp("The certificate's key, as PEM.", valueName: "file"))
    var privateKey: String?

    func validate() throws {
        guard (0...65535).contains(port) else { throw ValidationError("A port must be from 0 to 65535.") }
        guard (certificate == nil) == (privateKey == nil) else {
            throw ValidationError("--certificate and --private-key must be given together.")
        }
    }

    func options() throws -> TandemServer.Options {
        var options = TandemServer.Options()
        options.host = host
        options.port = port
        options.stopsOnSignals = true
        if let certificate, let privateKey {
            options.tls = try ServerCertificate(
                pem: String(contentsOfFile: certificate, encoding: .utf8),
                privateKeyPEM: String(contentsOfFile: privateKey, encoding: .utf8))
        }
        return options
    }
}
