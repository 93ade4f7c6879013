import Tandem
import Testing

@testable import DiscountCards

@Suite(.timeLimit(.minutes(1))) struct FeedInboxTests {
    private func changes(_ count: Int) async throws -> [ChangeSet<Card>] {
        let store = try Store(inMemoryModels: Wallet.models)
        var values = store.objects(Card.self).changesetPublisher.values.makeAsyncIterator()
        var changes: [ChangeSet<Card>] = []
        for number in 0..<count {
            changes.append(try #require(try await values.next()))
            try await store.write { tx in
                _ = try tx.insert(Card(shop: "x", barcode: EAN13(payload: UInt64(number)).digits))
            }
        }
        return changes
    }

    @Test func `a source waits until its previous change was read`() async throws {
        let changes = try await changes(2)
        let inbox = FeedInbox()
        await inbox.add(changes[0])
        let second = Task { await inbox.add(changes[1]) }
        #expect(await inbox.next()?.favorites?.results.count == 0)
        #expect(await inbox.next()?.favorites?.results.count == 1)
        await second.value
    }

    @Test func `any number of news is one element, and news do not wait`() async {
        let inbox = FeedInbox()
        for _ in 0..<1000 { await inbox.addNews() }
        let batch = await inbox.next()
        #expect(batch?.hasNews == true && batch?.favorites == nil)
        await inbox.addHeartbeat()
        let next = await inbox.next()
        #expect(next?.hasNews == false && next?.isHeartbeat == true)
    }

    @Test func `changes of earlier queries are dropped, and their sources do not wait`() async throws {
        let changes = try await changes(3)
        let inbox = FeedInbox()
        await inbox.add(changes[0])
        let waiting = Task { await inbox.add(changes[1]) }
        let round = await inbox.beginRound()
        await waiting.value
        await inbox.add(changes[0])
        await inbox.add(changes[2], of: round)
        #expect(await inbox.next()?.favorites?.results.count == 2)
    }

    @Test func `closing ends the reader and all waiting sources`() async throws {
        let changes = try await changes(3)
        let inbox = FeedInbox()
        await inbox.add(changes[0])
        let sources = [changes[1], changes[2]].map { change in Task { await inbox.add(change) } }
        await inbox.close()
        for source in sources { await source.value }
        #expect(await inbox.next() == nil)
    }
}
