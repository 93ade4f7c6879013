import Foundation
import Synchronization
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// Two devices make random changes: attach, replace, copy, delete, restore, purge and evict. Connections break,
/// processes crash, and the server moves files. After a final sync every file must be in its place.
@Suite(.ownThreads) struct FileRandomTests {
    private static let runs = isSoak ? 500 : 20

    @Test func `every file ends in its place after random changes and faults`() async throws {
        let seed = SeededGenerator.seed(from: "TANDEM_SEED")
        for run in 0..<Self.runs {
            let seed = seed &+ UInt64(run)
            do {
                let problems = try await FileHistory(seed: seed).problems()
                #expect(problems == [], "TANDEM_SEED=\(seed)")
                if !problems.isEmpty { return }
            } catch {
                Issue.record(error, "TANDEM_SEED=\(seed)")
                return
            }
        }
    }
}

private struct FileHistory {
    private var random: SeededGenerator
    private let fixture: PhotoFixture
    private var devices: [(store: Store, sync: SyncContext)]
    private var attached: [FileID: [UInt8]] = [:]
    private let reaper = Reaper()
    /// Whether files are deleted with their objects. In that case no device copies files, because another device may
    /// have deleted them.
    private let deletesFiles: Bool
    /// Whether files may have been sent more than once. A restored object sends its files again.
    private var sendsTwice = false

    init(seed: UInt64) throws {
        random = SeededGenerator(seed: seed)
        deletesFiles = Bool.random(using: &random)
        let cacheSize = [0, 3000, 1 << 30].randomElement(using: &random) ?? 0
        fixture = try PhotoFixture(nestedJSON: Bool.random(using: &random), cacheSize: Int64(cacheSize))
        let stores = [fixture.store, try fixture.other().0]
        devices = []
        devices = stores.map { ($0, context($0)) }
    }

    private func context(_ store: Store) -> SyncContext {
        let reaper = reaper
        return fixture.restarted(on: store) {
            $0.deletesFiles = deletesFiles
            $0.onPushStep = { _ in try reaper.step() }
            $0.onFileStep = { _ in try reaper.step() }
        }
    }

    /// Runs the random changes and a final sync, and returns the violations.
    func problems() async throws -> [String] {
        var history = self
        for _ in 0..<60 { try await history.act() }
        return try await history.synchronizeFully()
    }

    private mutating func act() async throws {
        let device = Int.random(in: 0..<2, using: &random)
        let (store, sync) = devices[device]
        let receipts = try await store.objects(Receipt.self).sorted(by: \.shop).all()
        let receipt = receipts.randomElement(using: &random)
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<15:
            let photo = Bool.random(using: &random) ? try attach(store) : nil
            let shop = "\(device)-\(attached.count)-\(Int.random(in: 0..<1000, using: &random))"
            try await store.write { _ = try $0.insert(Receipt(shop: shop, photo: photo)) }
        case 15..<30:
            guard let receipt else { return }
            let photo = try attach(store)
            try await store.write { _ = try $0.update(Receipt.self, localID: receipt.localID) { $0.photo = photo } }
        case 30..<40:
            guard let receipt else { return }
            let scan = try attach(store)
            try await store.write {
                _ = try $0.update(Receipt.self, localID: receipt.localID) { $0.scans.append(scan) }
            }
        case 40..<45:
            guard let receipt else { return }
            try await store.write { tx in
                _ = try tx.update(Receipt.self, localID: receipt.localID) { receipt in
                    receipt.photo = nil
                    if !receipt.scans.isEmpty { receipt.scans.removeFirst() }
                }
            }
        case 45..<49:
            guard !deletesFiles, let receipt, let photo = receipt.photo else { return }
            try await store.write { _ = try $0.insert(Receipt(shop: "копия \(receipt.shop)", photo: photo)) }
        case 49..<53:
            guard let receipt else { return }
            try await store.write { _ = try $0.delete(Receipt.self, localID: receipt.localID) }
        case 53..<55:
            guard let deleted = try store.operations.all().first(where: { $0.kind == .delete }) else { return }
            sendsTwice = true
            try await store.write { tx in
                _ =
                    try deleted.model == "Receipt"
                    ? tx.undelete(Receipt.self, localID: deleted.localID).localID
                    : tx.undelete(Passport.self, localID: deleted.localID).localID
            }
        case 55..<59: try await actOnPassport(store)
        case 59..<62:
            guard let receipt else { return }
            let points = Int.random(in: 0..<100, using: &random)
            try await store.write { _ = try $0.update(Receipt.self, localID: receipt.localID) { $0.points = points } }
        case 62..<70: fail()
        case 70..<72: try moveFile()
        case 72..<74:
            if let photo = receipt?.photo { _ = try store.attachments.evict(photo) }
        case 74..<76: _ = try? await sync.purge(Receipt.self, force: Bool.random(using: &random))
        case 76..<80: await die(on: device)
        case 80..<90: _ = try? await sync.push()
        default: _ = try? await sync.synchronize()
        }
        fixture.clock.advance(by: 1)
        if deletesFiles { try await resendUnacknowledged(from: device) }
    }

    /// Resends the device's changes without a response. If files are deleted with their objects, another device must
    /// not act before: it may delete a file that such a change names. The article on limits describes that.
    private func resendUnacknowledged(from device: Int) async throws {
        let (store, sync) = devices[device]
        for _ in 0..<20 {
            guard try store.operations.all().contains(where: { $0.state == .attempted }) else { return }
            _ = try? await sync.push()
        }
    }

    private mutating func actOnPassport(_ store: Store) async throws {
        let passport = try await store.objects(Passport.self).sorted(by: \.holder).all().randomElement(using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0:
            guard let passport else { return }
            try await store.write { _ = try $0.delete(Passport.self, localID: passport.localID) }
        case 1:
            guard let passport else { return }
            let scan = try attach(store)
            try await store.write { _ = try $0.update(Passport.self, localID: passport.localID) { $0.scan = scan } }
        default:
            let (scan, number) = (try attach(store), "\(attached.count)")
            try await store.write { _ = try $0.insert(Passport(holder: number, scan: scan)) }
        }
    }

    /// Kills the process during a sync, and starts another.
    private mutating func die(on device: Int) async {
        reaper.kill(after: Int.random(in: 0..<12, using: &random))
        _ = try? await devices[device].sync.synchronize()
        reaper.spare()
        devices[device].sync = context(devices[device].store)
    }

    /// Moves a file on the server.
    private mutating func moveFile() throws {
        let item = fixture.remote.items(in: "Receipt").randomElement(using: &random)
        guard !deletesFiles, let item, case .object(var members)? = FileInvariants.document(item[member: "photo"]),
            let index = members.firstIndex(where: { $0.key == "url" }), case .text(let url) = members[index].value,
            let file = fixture.fileServer.files[url]
        else { return }
        let other = "\(PhotoServer.url("moved"))-\(Int.random(in: 0..<1_000_000, using: &random))"
        fixture.fileServer.put(file.bytes, at: other)
        members[index].value = .text(other)
        var node = JSONNode.object(members)
        if case .text(let text)? = item[member: "photo"] { node = .text(text.replacing(url, with: other)) }
        fixture.remote.edit("Receipt", id: item.id) { $0.put("photo", node) }
    }

    private mutating func attach(_ store: Store) throws -> Attachment {
        let bytes = PhotoFixture.bytes(
            Int.random(in: 0...4000, using: &random), seed: UInt8.random(in: 0...255, using: &random))
        let attachment = try store.attachments.add(bytes, name: "ფოტო.jpg")
        attached[attachment.id] = bytes
        return attachment
    }

    private mutating func fail() {
        switch Int.random(in: 0..<8, using: &random) {
        case 0: fixture.remote.next(.loseResponse)
        case 1: fixture.remote.next(.loseRequest)
        case 2: fixture.fileServer.next("upload", .loseResponse)
        case 3: fixture.fileServer.next("upload", .breakAfter(Int.random(in: 1...2000, using: &random)))
        case 4: fixture.fileServer.next("upload", .fail(.refused(status: 403, message: "No.")))
        case 5: fixture.fileServer.next("upload", .fail(.later(status: 503, retryAfter: nil)))
        case 6: fixture.remote.next(.respondWithoutBody)
        default: fixture.fileServer.next("upload", .fail(.notSent(PhotoServer.Broken())))
        }
    }

    private mutating func synchronizeFully() async throws -> [String] {
        for _ in 0..<12 {
            for (index, (_, sync)) in devices.enumerated() {
                _ = try? await sync.synchronize()
                if deletesFiles { try await resendUnacknowledged(from: index) }
                for failed in try await sync.failedOperations() {
                    // Either choice of the user.
                    if !deletesFiles, Bool.random(using: &random) {
                        try await sync.keepMine(failed.id)
                    } else {
                        _ = try? await sync.takeServers(failed.id)
                    }
                }
            }
        }
        for _ in 0..<2 {
            for (_, sync) in devices { try await sync.synchronize() }
        }
        var problems: [String] = []
        for (store, sync) in devices {
            problems += try await FileInvariants.problems(
                of: store, fixture.remote, fixture.fileServer, attached: attached, sendsTwice: sendsTwice)
            let photos = try await store.objects(Receipt.self).all().compactMap(\.photo)
            for photo in photos + (try await store.objects(Passport.self).all().map(\.scan)) {
                // A missing URL is already reported.
                guard photo.serverURL != nil else { continue }
                try await sync.download(photo)
                if try Array(store.attachments.data(of: photo)) != attached[photo.id] {
                    problems.append("\(photo) came as another file")
                }
            }
            let here = try await store.objects(Receipt.self).all().count
            if here != fixture.remote.items(in: "Receipt").count { problems.append("\(here) receipts") }
        }
        return problems
    }
}

/// Ends a process after a number of steps.
private final class Reaper: Sendable {
    struct Killed: Error {}

    private let left = Mutex<Int?>(nil)

    func kill(after steps: Int) { left.withLock { $0 = steps } }
    func spare() { left.withLock { $0 = nil } }

    func step() throws {
        let isDead = left.withLock { left in
            defer { left = left.map { max(0, $0 - 1) } }
            return left == 0
        }
        if isDead { throw Killed() }
    }
}
