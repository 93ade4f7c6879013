import ArgumentParser
import Foundation
import TandemServer
import TandemServerCore

@main
struct TandemServerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tandem-server",
        abstract: "A sync server for development and tests: Azure Mobile Apps and Datasync.",
        discussion: """
            It is not for production. There, run Datasync on ASP.NET (\(datasync)), which speaks the same protocol.

            Probabilities are from 0 to 1. The same seed and the same requests give the same faults.
            """)

    static let datasync = "https://github.com/CommunityToolkit/Datasync"

    @OptionGroup var place: LocationOptions
    @OptionGroup var service: ServiceOptions
    @OptionGroup var faults: FaultOptions

    func run() async throws {
        var configuration = service.configuration
        configuration.faults = faults.faults
        if let files = place.files { configuration.files = ServerFiles(try FileStorage.inFolder(at: files)) }
        let core =
            try place.store.map { try ServerCore.onFile(at: $0, configuration: configuration) }
            ?? ServerCore.inMemory(configuration: configuration)
        let server = try await TandemServer.start(core, options: place.options())
        say("tandem-server listens on \(server.url.absoluteString)")
        say("\(service.dialect.name), \(place.store.map { "in the store \($0)" } ?? "in memory")")
        if let files = place.files { say("Files are in \(files)") }
        say("It is for development and tests. In production, run Datasync on ASP.NET: \(Self.datasync)")
        try await server.untilStopped()
        say("tandem-server has stopped")
    }

    /// Prints a line without buffering, since the process that starts the server may wait for it.
    private func say(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }
}
