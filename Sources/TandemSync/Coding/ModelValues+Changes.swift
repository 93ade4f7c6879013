import Tandem

extension ModelValues {
    /// Returns the values that differ from the checked object. Values that the app has not changed may have newer
    /// edits.
    static func changes<M: Model>(of object: M, from shown: M) -> [String: StorageValue] {
        let before = values(of: shown)
        return values(of: object).filter { before[$0] != $1 }
    }
}
