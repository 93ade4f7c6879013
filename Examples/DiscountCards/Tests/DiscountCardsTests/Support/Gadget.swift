import Foundation
import Tandem
import TandemSync
import Testing

@testable import DiscountCards

/// A person's device, in this process.
struct Gadget {
    let store: Store

    /// Creates a device with a logged-in user. The token is the user's name in the server's `users`.
    init(_ name: String, token: String, at server: InProcessServer, store: Store? = nil) async throws {
        self.store = try store ?? Store(inMemoryModels: Wallet.models)
        try await logIn(name, "--server", server.url, "--token", token)
    }

    func logIn(_ arguments: String...) async throws {
        try await LogIn.parse(arguments).logIn(to: store, environment: [:])
    }

    /// Syncs successfully.
    ///
    /// - Returns: The output.
    @discardableResult
    func sync() async throws -> [String] {
        let paper = try Paper()
        try await paper.print { try await CardSync(store).run(on: $0) }
        return try paper.lines
    }

    /// Syncs, and expects a failure.
    func failingSync() async throws -> (lines: [String], failure: Failure) {
        let paper = try Paper()
        do {
            try await paper.print { try await CardSync(store).run(on: $0) }
        } catch let failure as Failure {
            return (try paper.lines, failure)
        }
        throw Failure(.software, message: "It did not fail.")
    }

    /// Returns the output of `cards conflicts`.
    func conflicts() async throws -> [String] {
        let paper = try Paper()
        try await paper.print { try await CardSync(store).printConflicts(on: $0) }
        return try paper.lines
    }

    @discardableResult
    func decide(_ choice: Conflicts.Choice) async throws -> String {
        try await CardSync(store).decide(#require(firstOperation()).id, choice: choice)
    }

    func firstOperation() throws -> PendingOperation? { try store.operations.first(1).first }

    // MARK: Actions of people

    var wallet: Wallet { get throws { try Wallet(store, as: nil) } }

    func add(_ shop: String, number: UInt64) throws {
        let wallet = try wallet
        try store.write { tx in
            _ = try tx.insert(
                Card(
                    shop: shop, barcode: EAN13(payload: number).digits, owner: wallet.person.reference,
                    brand: Brand.named(shop, in: tx).reference))
        }
    }

    func edit(_ shop: String, _ change: (inout Card) -> Void) throws {
        let card = try wallet.card(shop)
        try store.write { tx in _ = try tx.update(Card.self, localID: card.localID, change) }
    }

    func delete(_ shop: String) throws {
        let card = try wallet.card(shop)
        try store.write { tx in _ = try tx.delete(card) }
    }

    func star(_ shop: String) throws -> Bool { try wallet.toggleStar(on: wallet.card(shop)) }

    /// Returns the cards with their owners and brands: `Лента of Ada, 40 points`.
    func cards() throws -> [String] {
        try store.objects(Card.self).sorted(by: \.barcode).all().map { card in
            let (owner, brand) = (try store.object(card.owner)?.name ?? "–", try store.object(card.brand)?.name ?? "–")
            return "\(card.shop) (\(brand)) of \(owner), \(card.points.of("point"))"
        }
    }

    func state(of shop: String) throws -> String { try wallet.stateCell(of: wallet.card(shop)).text }
}

/// An output of the program that a test reads.
final class Paper {
    private let url = FileManager.default.temporaryDirectory.appendingPathComponent("cards-paper-\(UUID().uuidString)")
    private let handle: FileHandle

    init() throws {
        _ = FileManager.default.createFile(atPath: url.path, contents: nil)
        handle = try FileHandle(forWritingTo: url)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    /// Runs a body that prints to this output.
    ///
    /// A screen knows only a descriptor. If the file were closed, another file could get this descriptor, such as a
    /// socket of another test. The output would then go there.
    func print(_ body: (Screen) async throws -> Void) async throws {
        try await body(Screen(descriptor: handle.fileDescriptor, isTerminal: false, environment: [:]))
        withExtendedLifetime(handle) {}
    }

    var lines: [String] {
        get throws { try String(contentsOf: url, encoding: .utf8).split(separator: "\n").map(String.init) }
    }
}

/// Runs a body with a server that knows Ada and Мария by the tokens `ada` and `maria`.
func withServer(_ body: (InProcessServer) async throws -> Void) async throws {
    let server = try await InProcessServer.open(users: ["ada": "Ada", "maria": "Мария"])
    do {
        try await body(server)
    } catch {
        try? await server.close()
        throw error
    }
    try await server.close()
}

/// Returns the thrown error, if it is this program's own.
func failure(of body: () async throws -> Void) async throws -> Failure? {
    do {
        try await body()
        return nil
    } catch let failure as Failure {
        return failure
    }
}
