import Foundation
import Tandem

/// The second act of `cards demo`: two devices and a server, with network problems and conflicts.
struct SecondAct {
    /// The dozen shops of the family's cards.
    static let shops = [
        "Пятёрочка", "Лента", "Γαλαξίας", "ローソン", "星見堂書店", "스타 서점", "აფთიაქი", "Café Orvéa", "L'Atelier d'Ôri",
        "Müller & Söhne", "Ringveien Kiosk", "Çarşı Fırını",
    ]

    /// Returns the number of a card that this act adds.
    static func number(_ index: UInt64) -> String { EAN13(payload: 299_999_999_900 + index).digits }

    let story: DemoStory
    let phone: Device
    let tablet: Device

    /// - Parameters:
    ///   - folder: The folder for the devices' folders.
    ///   - tokens: The users' tokens. Default: random ones.
    init(_ story: DemoStory, in folder: URL, tokens: (phone: String, tablet: String)? = nil) throws {
        func device(_ name: String, person: String, token: String?) throws -> Device {
            let own = folder.appendingPathComponent(name)
            try FileManager.default.createDirectory(at: own, withIntermediateDirectories: true)
            let token = token ?? "\(name)-\(UInt64.random(in: 0...UInt64.max))"
            return Device(name: name, person: person, token: token, folder: own, passphrase: story.passphrase)
        }
        self.story = story
        phone = try device("phone", person: Family.names[0], token: tokens?.phone)
        tablet = try device("tablet", person: Family.names[1], token: tokens?.tablet)
    }

    /// The names of the users by their tokens.
    var users: [String: String] { [phone.token: phone.person, tablet.token: tablet.person] }

    /// Runs the act with a server that has no data, and takes the server off the network at the end.
    func run(on server: any DemoServer) async throws {
        do {
            try await introduce(server)
            try await editWithoutSignal(server)
            try await reconnect(server)
            try await mend(server)
            try await loseResponse(server)
            try await photograph(server)
            try await compare(server)
            try await server.close()
        } catch {
            try? await server.close()
            throw error
        }
        guard story.isKept else { return }
        story.screen.print("The devices' stores are kept too: \(phone.path), \(tablet.path)")
    }

    /// Prints successful checks, or ends the demo.
    func check(_ claims: (holds: Bool, sentence: String)...) throws {
        story.screen.print()
        for (holds, sentence) in claims { try story.check(holds, sentence: sentence) }
    }

    /// Runs a command on a device, and prints the command and its output.
    ///
    /// - Parameter isQuiet: Whether to hide the output.
    @discardableResult
    func show(
        _ arguments: String..., on device: Device, token: String? = nil, isQuiet: Bool = false,
        ends status: Failure.Status? = nil
    ) async throws -> [String] {
        try Interrupt.check()
        let screen = story.screen
        let environment = token == nil ? "" : "\(LogIn.variable)=… "
        let command = "\(device.name) $ \(environment)cards \(DemoStory.shown(arguments))"
        screen.print("  " + screen.paint(command.printable, in: .strong))
        let lines: [String]
        do {
            lines = try await device.run(arguments, token: token, ends: status)
        } catch {
            // Ctrl-C ends both programs.
            try Interrupt.check()
            throw error
        }
        for line in lines where !isQuiet && !line.isEmpty {
            screen.print("  \(screen.paint("│", in: .faint)) \(line.printable)")
        }
        return lines
    }
}
