public struct Results<M: Model>: Sendable {
    let store: Store
    func keys() throws -> [(localID: LocalID, rowID: Int64)] {
        try store.reading { c in
            let s = try c.uncachedStatement("SELECT \"localID\", \"__rid\" FROM \(M.__definition.table.quotedSQL) WHERE deleted=0")
            var r: [(localID: LocalID, rowID: Int64)] = []
            while try s.step() { r.append((LocalID(try s.text(0)), s.integer(1))) }
            return r
        }
    }
}
extension Store { public func objects<M: Model>(_ m: M.Type) -> Results<M> { Results(store: self) } }
