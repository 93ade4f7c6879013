import Foundation
import Tandem
import TandemTesting
import Testing

@testable import TandemSync

/// Two devices attach, replace, copy and delete at random, over lines that break. When all is quiet every file is where
/// it should be.
@Suite struct FileRandomTests {
    private static let runs = ProcessInfo.processInfo.environment["TANDEM_SOAK"] == "1" ? 500 : 20

    @Test func `whatever is lost, every file ends where it should be`() async throws {
        let seed = SeededGenerator.seed(from: "TANDEM_SEED")
        for run in 0..<Self.runs {
            let problems = try await FileHistory(seed: seed &+ UInt64(run)).problems()
            #expect(problems == [], "TANDEM_SEED=\(seed &+ UInt64(run))")
            if !problems.isEmpty { return }
        }
    }
}

private struct FileHistory {
    private var random: SeededGenerator
    private let desk: PhotoDesk
    private var devices: [(store: Store, sync: SyncContext)]
    private var attached: [FileID: [UInt8]] = [:]

    init(seed: UInt64) throws {
        random = SeededGenerator(seed: seed)
        desk = try PhotoDesk(nestedJSON: Bool.random(using: &random))
        devices = [(desk.store, desk.sync), try desk.other()]
    }

    /// Lives, comes to rest, and tells what is not as it must be.
    func problems() async throws -> [String] {
        var history = self
        for _ in 0..<60 { try await history.act() }
        return try await history.settle()
    }

    private mutating func act() async throws {
        let device = Int.random(in: 0..<2, using: &random)
        let (store, sync) = devices[device]
        let receipts = try store.objects(Receipt.self).sorted(by: \.shop).all()
        let receipt = receipts.randomElement(using: &random)
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<15:
            let photo = Bool.random(using: &random) ? try attach(store) : nil
            let shop = "\(device)-\(attached.count)-\(Int.random(in: 0..<1000, using: &random))"
            try await store.write { _ = try $0.insert(Receipt(shop: shop, photo: photo)) }
        case 15..<30:
            guard let receipt else { return }
            let photo = try attach(store)
            try await store.write { _ = try $0.update(Receipt.self, receipt.localID) { $0.photo = photo } }
        case 30..<40:
            guard let receipt else { return }
            let scan = try attach(store)
            try await store.write { _ = try $0.update(Receipt.self, receipt.localID) { $0.scans.append(scan) } }
        case 40..<45:
            guard let receipt else { return }
            try await store.write { tx in
                _ = try tx.update(Receipt.self, receipt.localID) { receipt in
                    receipt.photo = nil
                    if !receipt.scans.isEmpty { receipt.scans.removeFirst() }
                }
            }
        case 45..<52:
            guard let receipt, let photo = receipt.photo else { return }
            try await store.write { _ = try $0.insert(Receipt(shop: "копия \(receipt.shop)", photo: photo)) }
        case 52..<57:
            guard let receipt else { return }
            try await store.write { _ = try $0.delete(Receipt.self, receipt.localID) }
        case 57..<62:
            guard let receipt else { return }
            let points = Int.random(in: 0..<100, using: &random)
            try await store.write { _ = try $0.update(Receipt.self, receipt.localID) { $0.points = points } }
        case 62..<72: fail()
        case 72..<74 where device == 0: devices[0].sync = desk.restarted()
        case 74..<86: _ = try? await sync.push()
        default: _ = try? await sync.synchronize()
        }
        desk.clock.advance(by: 1)
    }

    private mutating func attach(_ store: Store) throws -> Tandem.Attachment {
        let bytes = PhotoDesk.bytes(
            Int.random(in: 0...4000, using: &random), seed: UInt8.random(in: 0...255, using: &random))
        let attachment = try store.attachments.add(bytes, name: "ფოტო.jpg")
        attached[attachment.id] = bytes
        return attachment
    }

    private mutating func fail() {
        switch Int.random(in: 0..<8, using: &random) {
        case 0: desk.remote.next(.loseAnswer)
        case 1: desk.remote.next(.loseRequest)
        case 2: desk.shelf.next("upload", .loseAnswer)
        case 3: desk.shelf.next("upload", .breakAfter(Int.random(in: 1...2000, using: &random)))
        case 4: desk.shelf.next("upload", .fail(.refused(status: 403, message: "No.")))
        case 5: desk.shelf.next("upload", .fail(.later(status: 503, retryAfter: nil)))
        case 6: desk.remote.next(.answerWithoutBody)
        default: desk.shelf.next("upload", .fail(.notSent(PhotoShelf.Broken())))
        }
    }

    private mutating func settle() async throws -> [String] {
        for _ in 0..<12 {
            for (_, sync) in devices {
                _ = try? await sync.synchronize()
                for failed in try await sync.failedOperations() {
                    // Whichever the user chooses.
                    if Bool.random(using: &random) {
                        try await sync.keepMine(failed.id)
                    } else {
                        _ = try? await sync.takeServers(failed.id)
                    }
                }
            }
        }
        for (_, sync) in devices { try await sync.synchronize() }
        var problems: [String] = []
        for (store, sync) in devices {
            problems += try await FileLaws.problems(of: store, desk.remote, desk.shelf, attached: attached)
            for photo in try store.objects(Receipt.self).all().compactMap(\.photo) {
                try await sync.download(photo)
                if try Array(store.attachments.data(of: photo)) != attached[photo.id] {
                    problems.append("\(photo) came as another file")
                }
            }
            let here = try store.objects(Receipt.self).all().count
            if here != desk.remote.items(in: "Receipt").count { problems.append("\(here) receipts") }
        }
        return problems
    }
}
