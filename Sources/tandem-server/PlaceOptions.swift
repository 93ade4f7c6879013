import ArgumentParser
import TandemServer

/// Where the server is, and its rows.
struct PlaceOptions: ParsableArguments {
    @Option(help: "The address to listen on. Others than 127.0.0.1 let in whoever can reach it.")
    var host = "127.0.0.1"

    @Option(help: "The port to listen on; 0 for one that is free.")
    var port = 8080

    @Option(help: ArgumentHelp("The store to keep rows in. Without it they go with the server.", valueName: "file"))
    var store: String?

    @Option(
        help: ArgumentHelp(
            "The folder to keep files in, which is made if there is none. Without it none are served.",
            valueName: "folder"))
    var files: String?

    @Option(help: ArgumentHelp("A certificate to speak TLS with, as PEM.", valueName: "file"))
    var certificate: String?

    @Option(help: ArgumentHelp("The certificate's key, as PEM.", valueName: "file"))
    var privateKey: String?

    func validate() throws {
        guard (0...65535).contains(port) else { throw ValidationError("A port is a number from 0 to 65535.") }
        guard (certificate == nil) == (privateKey == nil) else {
            throw ValidationError("A certificate needs its key, and a key its certificate.")
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
