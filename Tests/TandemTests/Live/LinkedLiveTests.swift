import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// Queries over inverse links and lists of references are followed row by row.
@Suite(.ownThreads) struct LinkedLiveTests {
    /// A store with four songs and two fans, and the live queries of a test.
    private final class Charts {
        let store: Store
        let songs: [Song]
        let ada: Fan
        let bob: Fan
        private var checks: [(SourceLocation) throws -> Void] = []

        init(_ kind: StoreKind = .memory, _ store: Store? = nil) throws {
            let store = try store ?? kind.make([Song.self, Star.self, Fan.self, Playlist.self])
            self.store = store
            (songs, ada, bob) = try store.write { tx in
                let titles = ["А", "Б", "В", "Г"]
                let songs = try titles.enumerated().map { try tx.insert(Song(title: $1, year: 2000 + $0)) }
                return (songs, try tx.insert(Fan(name: "Ада")), try tx.insert(Fan(name: "Боб")))
            }
        }

        var all: Results<Song> { store.objects(Song.self) }

        /// The songs with a star of Ada first.
        var favoritesFirst: Results<Song> {
            let ada = ada
            return all.sorted(by: .matchingFirst { $0.stars.any { $0.fan == ada } }, .ascending(\.title))
        }

        func star(_ song: Int, of fan: Fan) throws -> Star {
            try store.write { try $0.insert(Star(song: songs[song].reference, fan: fan.reference)) }
        }

        /// Follows a query until ``check(sourceLocation:)`` is called.
        func follow<M: Model>(_ query: Results<M>) {
            let follower = Follower(query)
            checks.append { _ = try follower.next(sourceLocation: $0) }
        }

        /// Compares all followed queries with their current results.
        func check(sourceLocation: SourceLocation = #_sourceLocation) throws {
            for check in checks { try check(sourceLocation) }
        }

        /// The number of times that the live queries were read.
        var loads: Int { store.live.present.map(\.loads).reduce(0, +) }
    }

    @Test(arguments: StoreKind.allCases)
    func `a star moves its song without a reload`(_ kind: StoreKind) throws {
        let charts = try Charts(kind)
        defer { charts.store.close() }
        let list = Follower(charts.favoritesFirst)
        #expect(try list.next().last?.results.map(\.title) == ["А", "Б", "В", "Г"])
        let loads = charts.loads
        let star = try charts.star(2, of: charts.ada)
        let first = try #require(try list.next().last)
        #expect(first.results.map(\.title) == ["В", "А", "Б", "Г"])
        #expect(first.moves.map(\.from) == [2] && first.moves.map(\.to) == [0])
        #expect(first.modifications.isEmpty && first.insertions == [0] && first.deletions == [2])
        // A star of another fan changes nothing.
        _ = try charts.star(3, of: charts.bob)
        #expect(try list.next().isEmpty)
        // The star leaves one song and reaches another.
        let other = charts.songs[3].reference
        try charts.store.write { tx in try tx.update(Star.self, localID: star.localID) { $0.song = other } }
        #expect(try list.next().last?.results.map(\.title) == ["Г", "А", "Б", "В"])
        // A value that the query does not use.
        try charts.store.write { tx in try tx.update(Star.self, localID: star.localID) { $0.weight = 5 } }
        #expect(try list.next().isEmpty)
        try charts.store.write { tx in _ = try tx.delete(tx.objects(Star.self).where { $0.weight == 5 }) }
        let last = try #require(try list.next().last)
        #expect(last.results.map(\.title) == ["А", "Б", "В", "Г"] && last.moves.count == 1)
        #expect(charts.loads == loads)
        list.recorder.cancel()
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `deleted songs, fans and stars change the order`(_ kind: StoreKind) throws {
        let charts = try Charts(kind)
        defer { charts.store.close() }
        let list = Follower(charts.favoritesFirst)
        let starred = Follower(charts.all.where { !$0.stars.isEmpty }.sorted(by: \.title))
        let loads = charts.loads
        for song in [2, 3] { _ = try charts.star(song, of: charts.ada) }
        // The server knows this star, so its deletion leaves a tombstone.
        try charts.store.applyServerObject(
            Star(song: charts.songs[1].reference, fan: charts.ada.reference), serverID: "s1", version: "1")
        #expect(try list.next().last?.results.map(\.title) == ["Б", "В", "Г", "А"])
        _ = try starred.next()
        try charts.store.write { tx in _ = try tx.delete(tx.objects(Star.self).where { $0.serverID == "s1" }) }
        #expect(try list.next().last?.results.map(\.title) == ["В", "Г", "А", "Б"])
        #expect(try starred.next().last?.results.map(\.title) == ["В", "Г"])
        try charts.store.write { tx in
            for star in try tx.objects(Star.self).onlyDeleted().all() { try tx.undelete(star) }
        }
        #expect(try starred.next().last?.results.map(\.title) == ["Б", "В", "Г"])
        _ = try list.next()
        // The star is deleted with its song.
        try charts.store.write { try $0.delete(charts.songs[2]) }
        #expect(try starred.next().last?.results.map(\.title) == ["Б", "Г"])
        _ = try list.next()
        // The stars lose their fan.
        try charts.store.write { try $0.delete(charts.ada) }
        #expect(try list.next().last?.results.map(\.title) == ["А", "Б", "Г"])
        #expect(try starred.next().isEmpty)
        #expect(charts.loads == loads)
        list.recorder.cancel()
        starred.recorder.cancel()
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `several changes of a transaction count together`(_ kind: StoreKind) throws {
        let charts = try Charts(kind)
        defer { charts.store.close() }
        let (store, songs, ada) = (charts.store, charts.songs, charts.ada)
        let list = Follower(charts.favoritesFirst)
        let often = Follower(charts.all.where { $0.stars.count >= 2 }.sorted(by: .descending(\.title)))
        _ = try (list.next(), often.next())
        let loads = charts.loads
        let stars = try store.write { tx in
            try [0, 1, 1, 3, 3].map { try tx.insert(Star(song: songs[$0].reference, fan: ada.reference)) }
        }
        #expect(try list.next().last?.results.map(\.title) == ["А", "Б", "Г", "В"])
        #expect(try often.next().last?.insertedIDs == [songs[3].localID, songs[1].localID])
        // A star that moves and returns, and one that exists only within the transaction.
        try store.write { tx in
            try tx.update(Star.self, localID: stars[0].localID) { $0.song = songs[2].reference }
            try tx.update(Star.self, localID: stars[0].localID) { $0.song = songs[0].reference }
            let brief = try tx.insert(Star(song: songs[2].reference, fan: ada.reference))
            try tx.delete(brief)
        }
        #expect(try list.next().isEmpty)
        #expect(try often.next().isEmpty)
        try store.write { tx in
            try tx.delete(stars[1])
            try tx.delete(stars[3])
            try tx.delete(stars[4])
            try tx.update(Star.self, localID: stars[0].localID) { $0.song = songs[2].reference }
            try tx.insert(Song(title: "Д"))
            try tx.update(Song.self, localID: songs[1].localID) { $0.title = "Я" }
        }
        #expect(try list.next().last?.results.map(\.title) == ["В", "Я", "А", "Г", "Д"])
        #expect(try often.next().last?.deletedIDs.count == 2)
        #expect(charts.loads == loads)
        list.recorder.cancel()
        often.recorder.cancel()
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `a transaction that is rolled back delivers nothing`(_ kind: StoreKind) throws {
        let charts = try Charts(kind)
        defer { charts.store.close() }
        let (store, songs, ada) = (charts.store, charts.songs, charts.ada)
        let list = Follower(charts.favoritesFirst)
        let star = try charts.star(3, of: ada)
        _ = try list.next()
        struct Undone: Error {}
        #expect(throws: Undone.self) {
            try store.write { tx in
                try tx.update(Star.self, localID: star.localID) { $0.song = songs[1].reference }
                throw Undone()
            }
        }
        #expect(try list.next().isEmpty)
        // The inner block is rolled back, the outer one is not.
        try store.write { tx in
            _ = try? tx.store.write { inner in
                _ = try inner.delete(star)
                throw Undone()
            }
            try tx.insert(Star(song: songs[2].reference, fan: ada.reference))
        }
        #expect(try list.next().last?.results.map(\.title) == ["В", "Г", "А", "Б"])
        list.recorder.cancel()
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `objects behind linked objects are followed`(_ kind: StoreKind) throws {
        let charts = try Charts(kind)
        defer { charts.store.close() }
        let (store, songs, ada) = (charts.store, charts.songs, charts.ada)
        let all = store.objects(Star.self)
        charts.follow(charts.all.where { $0.stars.any { $0.fan.name == "Ада" } }.sorted(by: \.title))
        charts.follow(charts.all.where { $0.stars.any { $0.fan.stars.count > 2 } })
        charts.follow(charts.all.where { $0.stars.all { $0.fan != nil && $0.weight > 1 } })
        charts.follow(
            charts.all.sorted(by: .matchingFirst { $0.playlists.any { $0.songs.count > 1 } }, .ascending(\.title)))
        charts.follow(all.where { $0.song.stars.count > 1 })
        charts.follow(all.where { $0.song.playlists.any { $0.name == "x" } })
        charts.follow(all.sorted(by: .ascending(\.song.title), .matchingFirst { $0.fan.stars.none { $0.weight == 2 } }))
        charts.follow(store.objects(Playlist.self).where { $0.songs.any { $0.stars.any { $0.fan.name == "Ада" } } })
        charts.follow(store.objects(Fan.self).where { $0.stars.any { $0.song.playlists.isEmpty } })
        try charts.check()
        let loads = charts.loads
        let star = try charts.star(0, of: ada)
        try charts.check()
        for song in [0, 1, 1] {
            _ = try charts.star(song, of: charts.bob)
            try charts.check()
        }
        let playlist = try store.write { tx in
            try tx.insert(Playlist(name: "x", songs: [songs[0].reference, songs[1].reference, songs[0].reference]))
        }
        try charts.check()
        try store.write { tx in try tx.update(tx.objects(Star.self).where { $0.fan == ada }) { $0.weight = 2 } }
        try charts.check()
        try store.write { tx in try tx.update(Fan.self, localID: ada.localID) { $0.name = "Яна" } }
        try charts.check()
        try store.write { tx in try tx.update(Playlist.self, localID: playlist.localID) { $0.songs.removeLast(2) } }
        try charts.check()
        try store.write { tx in
            try tx.update(Star.self, localID: star.localID) { $0.song = songs[3].reference }
            try tx.update(Fan.self, localID: ada.localID) { $0.name = "Ада" }
            try tx.update(Playlist.self, localID: playlist.localID) { $0.songs = [songs[3].reference] }
        }
        try charts.check()
        try store.write { tx in
            try tx.delete(songs[0])
            try tx.delete(charts.bob)
        }
        try charts.check()
        try store.write { _ = try $0.delete(playlist) }
        try charts.check()
        #expect(charts.loads == loads)
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `lists of references are followed from both sides`(_ kind: StoreKind) throws {
        let charts = try Charts(kind)
        defer { charts.store.close() }
        let (store, songs) = (charts.store, charts.songs)
        let listed = Follower(charts.all.where { $0.playlists.count == 1 }.sorted(by: \.title))
        let old = Follower(store.objects(Playlist.self).where { $0.songs.any { $0.year < 2001 } }.sorted(by: \.name))
        let with = Follower(
            store.objects(Playlist.self).sorted(by: .matchingFirst { $0.songs.contains(songs[3]) }, .ascending(\.name)))
        _ = try (listed.next(), old.next(), with.next())
        let loads = charts.loads
        let lists = try store.write { tx in
            try ["x", "y"].map { try tx.insert(Playlist(name: $0, songs: [songs[1].reference, songs[2].reference])) }
        }
        #expect(try listed.next().isEmpty)
        #expect(try old.next().isEmpty)
        #expect(try with.next().last?.results.map(\.name) == ["x", "y"])
        try store.write { tx in
            try tx.update(Playlist.self, localID: lists[1].localID) {
                $0.songs = [songs[2].reference, songs[3].reference, songs[3].reference]
            }
        }
        #expect(try listed.next().last?.results.map(\.title) == ["Б", "Г"])
        #expect(try with.next().last?.moves.count == 1)
        try store.write { tx in try tx.update(Song.self, localID: songs[2].localID) { $0.year = 1999 } }
        #expect(try old.next().last?.results.map(\.name) == ["x", "y"])
        // The song leaves the lists with its deletion.
        try store.write { _ = try $0.delete(songs[2]) }
        #expect(try old.next().last?.results.isEmpty == true)
        #expect(try listed.next().isEmpty)
        _ = try with.next()
        try store.write { _ = try $0.delete(lists[1]) }
        #expect(try listed.next().last?.results.map(\.title) == ["Б"])
        #expect(charts.loads == loads)
        for follower in [old, with] { follower.recorder.cancel() }
        listed.recorder.cancel()
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `links of deleted objects are followed`(_ kind: StoreKind) throws {
        let charts = try Charts(kind)
        defer { charts.store.close() }
        let store = charts.store
        let song = try store.applyServerObject(Song(title: "Д"), serverID: "5", version: "1")
        let list = try store.applyServerObject(
            Playlist(name: "x", songs: [song.reference, charts.songs[0].reference]), serverID: "l", version: "1")
        let star = try store.applyServerObject(
            Star(song: song.reference, fan: charts.ada.reference), serverID: "s", version: "1")
        let stars = store.objects(Star.self).includingDeleted()
        charts.follow(stars.where { $0.song.title == "Д" })
        charts.follow(stars.onlyDeleted().where { $0.fan.name == "Ада" || $0.song.playlists.count > 0 })
        charts.follow(store.objects(Playlist.self).includingDeleted().where { $0.songs.any { $0.year > 1999 } })
        charts.follow(
            charts.all.includingDeleted().sorted(by: .matchingFirst { $0.stars.isEmpty }, .ascending(\.title)))
        let loads = charts.loads
        try store.write { tx in
            try tx.delete(star)
            try tx.delete(list)
        }
        try charts.check()
        try store.write { tx in try tx.update(Song.self, localID: song.localID) { $0.title = "Е" } }
        try charts.check()
        try store.write { tx in
            // The tombstones keep their references to these objects.
            try tx.delete(song)
            try tx.delete(charts.songs[0])
            try tx.delete(charts.ada)
        }
        try charts.check()
        try store.applyServerDelete(of: Song.self, serverID: "5")
        try charts.check()
        #expect(charts.loads == loads)
    }

    @Test func `a limited list is refilled as stars move its songs`() throws {
        let charts = try Charts()
        defer { charts.store.close() }
        let list = Follower(charts.favoritesFirst.limit(2))
        _ = try list.next()
        let star = try charts.star(3, of: charts.ada)
        #expect(try list.next().last?.results.map(\.title) == ["Г", "А"])
        try charts.store.write { _ = try $0.delete(star) }
        #expect(try list.next().last?.results.map(\.title) == ["А", "Б"])
        list.recorder.cancel()
    }

    @Test func `a commit that affects too many objects reloads the list`() throws {
        let charts = try Charts()
        defer { charts.store.close() }
        charts.store.live.tuning.joinedLimit = 2
        let (songs, ada) = (charts.songs, charts.ada)
        let list = Follower(charts.favoritesFirst)
        _ = try list.next()
        let loads = charts.loads
        try charts.store.write { tx in
            for song in songs.dropFirst(2) { try tx.insert(Star(song: song.reference, fan: ada.reference)) }
        }
        #expect(try list.next().last?.results.map(\.title) == ["В", "Г", "А", "Б"])
        #expect(charts.loads == loads)
        try charts.store.write { tx in
            try tx.delete(tx.objects(Star.self))
            try tx.insert(Star(song: songs[1].reference, fan: ada.reference))
        }
        #expect(try list.next().last?.results.map(\.title) == ["Б", "А", "В", "Г"])
        #expect(charts.loads == loads + 1)
        list.recorder.cancel()
    }

    @Test func `a folded text behind a reference is followed`() throws {
        let charts = try Charts()
        defer { charts.store.close() }
        let songs = charts.songs
        _ = try charts.star(0, of: charts.ada)
        let stars = charts.store.objects(Star.self)
        let equal = Follower(stars.where { $0.song.title.folded == "лента" })
        let prefix = Follower(stars.where { $0.song.title.folded.hasPrefix("ле") })
        let count = stars.where { $0.song.title.folded == "лента" }.countPublisher.on(.immediate).record()
        _ = try (equal.next(), prefix.next())
        try charts.store.write { tx in try tx.update(Song.self, localID: songs[0].localID) { $0.title = "Лента" } }
        #expect(try equal.next().last?.results.count == 1)
        #expect(try prefix.next().last?.results.count == 1)
        #expect(count.values == [0, 1])
        equal.recorder.cancel()
        prefix.recorder.cancel()
        count.cancel()
    }

    @Test(arguments: StoreKind.files)
    func `recorded stars of another store move its songs without a reload`(_ kind: StoreKind) throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let models: [any Model.Type] = [Song.self, Star.self, Fan.self, Playlist.self]
        let charts = try Charts(kind, try kind.open(at: folder.path(of: "a.tandem"), models))
        let (store, songs, ada) = (charts.store, charts.songs, charts.ada)
        defer { store.close() }
        let other = try kind.open(at: store.path, models)
        defer { other.close() }
        for each in [store, other] { each.live.tuning.observerInterval = 0 }
        charts.follow(charts.favoritesFirst)
        charts.follow(charts.all.where { $0.playlists.any { $0.name == "x" } })
        #expect(store.live.waitUntilIdle(store))
        let star = try other.write { try $0.insert(Star(song: songs[1].reference, fan: ada.reference)) }
        #expect(store.live.waitUntilIdle(store))
        try charts.check()
        let loads = charts.loads
        try other.write { tx in
            try tx.update(Star.self, localID: star.localID) { $0.song = songs[3].reference }
            try tx.insert(Playlist(name: "x", songs: [songs[0].reference, songs[2].reference]))
        }
        #expect(store.live.waitUntilIdle(store))
        try charts.check()
        try other.write { tx in
            try tx.delete(tx.objects(Playlist.self))
            try tx.delete(tx.objects(Star.self))
        }
        #expect(store.live.waitUntilIdle(store))
        try charts.check()
        #expect(charts.loads == loads)
    }
}
