import BigInt
import Foundation
import TandemTestScript
import TandemTesting

@testable import Tandem

/// A model of random histories: creates and changes objects, and makes queries of them.
protocol OracleModel: Model {
    /// The local IDs of its objects, few so that they collide.
    static var pool: [LocalID] { get }
    static func blank() -> Self
    /// Changes some properties.
    mutating func vary(_ random: inout SeededGenerator, chance: Int)
    static func predicate(_ random: inout SeededGenerator) -> Tandem.Predicate<Self>
    static func order(_ random: inout SeededGenerator) -> SortKey<Self>
    /// Returns a predicate over lists of references or inverse links, or `nil` if the model has none.
    static func linkPredicate(_ random: inout SeededGenerator) -> Tandem.Predicate<Self>?
    static func distinct(_ results: Results<Self>, _ random: inout SeededGenerator) -> Results<Self>
    static func observing(_ results: Results<Self>, _ random: inout SeededGenerator) -> Results<Self>
    static func aggregate(
        _ maker: WatchMaker, _ results: Results<Self>, _ random: inout SeededGenerator
    ) -> AnyOracleWatch
    static func sections(
        _ maker: WatchMaker, _ results: Results<Self>, _ random: inout SeededGenerator, changes: Bool
    ) -> AnyOracleWatch
    /// Changes some properties of an object, named by key path.
    static func upsertSome(_ object: Self, _ tx: WriteTransaction) throws
    static func imported(_ random: inout SeededGenerator) -> [String: Any?]
}

extension OracleModel {
    static func linkPredicate(_ random: inout SeededGenerator) -> Tandem.Predicate<Self>? { nil }
    static func upsertSome(_ object: Self, _ tx: WriteTransaction) throws { try tx.upsert(object) }
    static func imported(_ random: inout SeededGenerator) -> [String: Any?] { [:] }
}

extension WatchMaker {
    /// Makes a watch of sections by a property, with or without change sets.
    func sections<M: Model, P: PropertyExpression>(
        _ results: Results<M>, _ path: KeyPath<M.Columns, P>, _ random: inout SeededGenerator, changes: Bool
    ) -> AnyOracleWatch where P.Root == M, P.Value: Sendable {
        let ascending = random.chance(60)
        func read(_ results: Results<M>) throws -> [ResultsSection<P.Value, M>] {
            try results.sectioned(by: path, ascending: ascending)
        }
        if changes {
            let publisher = results.sectionedChangesetPublisher(by: path, ascending: ascending)
            return watch(sectionedChangeset(results, by: "value", publisher, read))
        }
        return watch(sections(results, by: "value", results.sectionsPublisher(by: path, ascending: ascending), read))
    }

    /// Makes a watch of sections by a folded text, or by its first letter.
    func textSections<M: Model, P: FoldedExpression>(
        _ results: Results<M>, _ path: KeyPath<M.Columns, P>, _ random: inout SeededGenerator, changes: Bool
    ) -> AnyOracleWatch where P.Root == M, P.Value: QueryText & Sendable {
        guard dividesByLetter else { return sections(results, path, &random, changes: changes) }
        let letter: KeyPath<M.Columns, FirstLetter<M>> = path.appending(path: \P.firstLetter)
        let ascending = random.chance(60)
        func read(_ results: Results<M>) throws -> [ResultsSection<String?, M>] {
            try results.sectioned(by: letter, ascending: ascending)
        }
        if changes {
            let publisher = results.sectionedChangesetPublisher(by: letter, ascending: ascending)
            return watch(sectionedChangeset(results, by: Self.letter, publisher, read))
        }
        return watch(
            sections(results, by: Self.letter, results.sectionsPublisher(by: letter, ascending: ascending), read))
    }

    static let letter = "first letter"

    /// Makes a watch of an aggregate.
    func of<M: Model, Value: Sendable>(
        _ results: Results<M>, _ aggregate: Aggregate<M, Value>, _ compute: @escaping (Results<M>) throws -> Value
    ) -> AnyOracleWatch {
        watch(self.aggregate(results, aggregate, compute))
    }

    func sum<M: Model, P: PropertyExpression>(
        _ results: Results<M>, _ path: KeyPath<M.Columns, P>, _ random: inout SeededGenerator
    ) -> AnyOracleWatch where P.Root == M, P.Value: QuerySummable {
        random.chance(60)
            ? of(results, .sum(path)) { try $0.sum(of: path) }
            : of(results, .average(path)) { try $0.average(of: path) }
    }

    func extreme<M: Model, P: PropertyExpression>(
        _ results: Results<M>, _ path: KeyPath<M.Columns, P>, _ random: inout SeededGenerator
    ) -> AnyOracleWatch where P.Root == M, P.Value: QueryOrdered, P.Value.Ordered: Sendable {
        random.chance(50)
            ? of(results, .min(path)) { try $0.min(of: path) } : of(results, .max(path)) { try $0.max(of: path) }
    }
}

/// Picks a value, mostly one of the first, so that predicates match some objects.
extension SeededGenerator {
    mutating func often<T>(_ values: [T]) -> T {
        chance(75) ? values[Int.random(in: 0..<min(4, values.count), using: &self)] : pick(values)
    }

    mutating func descriptor<M: Model, P: PropertyExpression>(
        _ path: KeyPath<M.Columns, P>
    ) -> SortKey<M> where P.Root == M {
        let nilsFirst = chance(50)
        return chance(55)
            ? .ascending(path, nils: nilsFirst ? .first : .last)
            : .descending(path, nils: nilsFirst ? .first : .last)
    }

    mutating func reference<M: OracleModel>(_ model: M.Type) -> Reference<M> { Reference(localID: pick(M.pool)) }
    mutating func references<M: OracleModel>(_ model: M.Type) -> [Reference<M>] {
        (0..<Int.random(in: 0...3, using: &self)).map { _ in reference(model) }
    }
}
