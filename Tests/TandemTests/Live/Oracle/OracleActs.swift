import Foundation
import TandemTesting

@testable import Tandem

/// Performs one act in a transaction. An act that the store refuses is neither a change nor a failure.
struct OracleActor {
    let tx: WriteTransaction
    let world: WorldKind
    struct Undone: Error {}

    func perform(_ act: OracleHistory.Act, depth: Int = 0) throws {
        var r = SeededGenerator(seed: act.seed)
        let model = r.pick(world.models)
        do {
            switch act.kind {
            case .nested, .nestedThrows:
                guard depth < 2 else { return }
                let acts = (0..<2).map { _ in
                    OracleHistory.Act(kind: r.pick(ActKind.allCases.filter { $0 != .replace }), seed: r.next())
                }
                try tx.store.write { _ in
                    for act in acts { try perform(act, depth: depth + 1) }
                    if act.kind == .nestedThrows { throw Undone() }
                }
            case .beginAttempt, .acknowledge, .failOperation: try send(act.kind, &r)
            case .replace: if world == .slips { try Slip.replace(tx, &r) }
            default: try perform(act.kind, model, &r)
            }
        } catch is Undone {
        } catch let error as TandemError where error.code != .transactionBroken {
        }
    }

    private func send(_ kind: ActKind, _ r: inout SeededGenerator) throws {
        guard let operation = try tx.store.operations.all().randomElement(using: &r) else { return }
        switch kind {
        case .beginAttempt: try tx.beginAttempt(operation.id)
        case .acknowledge:
            try tx.beginAttempt(operation.id)
            try tx.acknowledge(
                operation.id, serverID: ServerID(operation.localID.rawValue), version: "\(r.pick([1, 2]))")
        default:
            try tx.fail(
                operation.id, with: OperationError(message: "no", at: .distantPast), retry: r.chance(50))
        }
    }

    private func new<M: OracleModel>(_ model: M.Type, _ r: inout SeededGenerator) -> M {
        var object = M.blank().identified(by: r.pick(M.pool))
        object.vary(&r, chance: 60)
        return object
    }

    private func one<M: OracleModel>(_ model: M.Type, _ r: inout SeededGenerator) throws -> M? {
        try tx.objects(M.self).all().randomElement(using: &r)
    }

    private func perform<M: OracleModel>(_ kind: ActKind, _ model: M.Type, _ r: inout SeededGenerator) throws {
        switch kind {
        case .insert: try tx.insert(new(model, &r))
        case .upsert: try tx.upsert(new(model, &r))
        case .upsertSome: try M.upsertSome(new(model, &r), tx)
        case .update, .updateNothing, .updateAndBack:
            guard let object = try one(model, &r) else { return }
            if kind == .updateNothing {
                try tx.update(object)
                return
            }
            var changed = object
            changed.vary(&r, chance: 25)
            let updated = try tx.update(changed)
            if kind == .updateAndBack {
                var back = object
                back.__state = updated.__state
                try tx.update(back)
            }
        case .delete:
            guard let object = try one(model, &r) else { return }
            try tx.delete(object)
        case .undelete:
            guard let object = try tx.objects(M.self).onlyDeleted().all().randomElement(using: &r) else { return }
            try tx.undelete(object)
        case .bulkInsert:
            for _ in 0..<r.pick([1, 4, 9]) { _ = try? tx.insert(new(model, &r)) }
        case .bulkUpdate:
            var results = tx.objects(M.self)
            if r.chance(50) {
                let predicate = M.predicate(&r)
                results = results.where { _ in predicate }
            }
            let seed = r.next()
            try tx.update(results) { object in
                var r = SeededGenerator(seed: seed)
                object.vary(&r, chance: 15)
            }
        case .bulkDelete:
            let predicate = M.predicate(&r)
            try tx.delete(tx.objects(M.self).where { _ in predicate }.limit(r.pick([1, 3, 9])))
        case .serverUpsert:
            let object = new(model, &r)
            let at = r.chance(50) ? Date(timeIntervalSinceReferenceDate: Double(r.pick([0, 1, 2]))) : nil
            try tx.store.applyServerObject(object, version: "v", updatedAt: at)
        case .serverDelete:
            try tx.store.applyServerDelete(of: M.self, serverID: ServerID(r.pick(M.pool).rawValue))
        case .importValues:
            guard let object = try one(model, &r) else { return }
            var values = M.imported(&r)
            guard !values.isEmpty else { return }
            values["localID"] = object.localID.rawValue
            try tx.upsert(M.self, values: values)
        default: break
        }
    }
}

extension WatchMaker {
    /// Returns a random watch of a world.
    static func random(
        _ number: Int, _ history: OracleHistory, _ store: Store, _ r: inout SeededGenerator,
        _ tally: inout OracleTally
    ) -> AnyOracleWatch {
        let world = history.world
        let asking = r.pick(Asking.allCases)
        let maker = WatchMaker(
            number: number, delivery: r.pick(Delivery.allCases), asking: asking, store: store,
            dividesByLetter: history.dividesByLetter, followsLinks: history.followsLinks)
        tally.note("scheduler \(maker.delivery)")
        tally.note("asking \(asking)")
        let kind = r.pick(PublisherKind.allCases)
        tally.note("publisher \(kind)")
        let model = r.pick(world.models)
        return maker.make(kind, model, world, &r, &tally)
    }

    private func query<M: OracleModel>(
        _ model: M.Type, _ r: inout SeededGenerator, _ tally: inout OracleTally
    ) -> Results<M> {
        var results = store.objects(M.self)
        func filter() {
            let predicate = M.predicate(&r)
            results = results.where { _ in predicate }
        }
        func sort() { results = results.sorted(by: (0..<r.pick([1, 1, 2, 3])).map { _ in M.order(&r) }) }
        if r.chance(65) { filter() }
        if r.chance(25) { filter() }
        if r.chance(75) { sort() }
        if followsLinks { results = followingLinks(results, &r, &tally) }
        if r.chance(8) { results = M.distinct(results, &r) }
        if r.chance(25) { results = results.limit(r.pick([0, 1, 2, 3, 5])) }
        if r.chance(12) { results = results.offset(r.pick([1, 2, 4])) }
        if r.chance(10) { filter() }
        if r.chance(10) { sort() }
        if r.chance(10) { results = r.chance(50) ? results.includingDeleted() : results.onlyDeleted() }
        if r.chance(20) { results = M.observing(results, &r) }
        tally.note(results.query)
        return results
    }

    /// Adds a filter or an order over lists of references or inverse links.
    private func followingLinks<M: OracleModel>(
        _ results: Results<M>, _ r: inout SeededGenerator, _ tally: inout OracleTally
    ) -> Results<M> {
        guard let predicate = M.linkPredicate(&r) else { return results }
        if r.chance(40) {
            tally.note("filter over links")
            return results.where { _ in predicate }
        }
        tally.note("order over links")
        return results.sorted(by: [.matchingFirst { _ in predicate }, M.order(&r)])
    }

    private func make<M: OracleModel>(
        _ kind: PublisherKind, _ model: M.Type, _ world: WorldKind, _ r: inout SeededGenerator,
        _ tally: inout OracleTally
    ) -> AnyOracleWatch {
        if kind == .object { return watch(object(Reference<M>(localID: r.pick(M.pool)))) }
        let results = query(model, &r, &tally)
        switch kind {
        case .collection: return watch(collection(results))
        case .changeset: return watch(changeset(results))
        case .references: return watch(references(results))
        case .referenceChangeset: return watch(referenceChangeset(results))
        case .count: return watch(count(results))
        case .aggregate: return M.aggregate(self, results, &r)
        case .sections, .sectionedChangeset:
            let watch = M.sections(self, results, &r, changes: kind == .sectionedChangeset)
            if watch.text.contains(Self.letter) { tally.note("sections by first letter") }
            return watch
        default:
            let other = r.pick(world.models)
            return combine(results, other, &r, &tally)
        }
    }

    private func combine<M: OracleModel, N: OracleModel>(
        _ one: Results<M>, _ other: N.Type, _ r: inout SeededGenerator, _ tally: inout OracleTally
    ) -> AnyOracleWatch {
        watch(combined(changeset(one), count(one), collection(query(other, &r, &tally))))
    }
}
