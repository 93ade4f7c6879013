import Foundation
import Synchronization
import TandemTestScript
import Testing

@testable import Tandem

/// Runs a block while a thread of this process and a peer process write to a store. Each transaction writes a person
/// and a number that counts the transactions.
///
/// - Parameter count: The maximum number of transactions of the peer.
func whileOthersWrite(
    to store: Store, at path: String, in folder: TestFolder, count: Int, _ body: () throws -> Void
) throws {
    _ = try store.write { try $0.insert(PeerMark(number: 0).identified(by: PeerMark.id)) }
    let peer = try PeerProcess(["count", path, "\(count)"], in: folder)
    let stop = Mutex(false)
    let done = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
        while !stop.withLock({ $0 }) {
            try? store.write { tx in
                try tx.insert(PeerPerson(name: "x"))
                try tx.update(PeerMark.self, localID: PeerMark.id) { $0.number += 1 }
            }
        }
        done.signal()
    }
    defer {
        peer.kill()
        stop.withLock { $0 = true }
        done.wait()
    }
    try body()
}

extension Store {
    /// Checks that the store contains some of those transactions, each of them complete.
    func expectWholeTransactions() throws {
        let mark = try rows("SELECT number FROM PeerMark")[0][0]
        #expect(try rows("SELECT count(*) FROM PeerPerson") == [[mark]])
        #expect(try rows("SELECT count(*) FROM __operations") == [[mark]])
    }
}
