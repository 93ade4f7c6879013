public enum Folding {
    public static let version = 1
    public static func sortKey(_ t: String) -> String { t.lowercased() }
    public static func searchKey(_ t: String) -> String { t.lowercased() }
    static func appendSortKey(of utf8: UnsafeBufferPointer<UInt8>, to out: inout [UInt8]) { out += Array(sortKey(String(decoding: utf8, as: UTF8.self)).utf8) }
    static func appendSearchKey(of utf8: UnsafeBufferPointer<UInt8>, to out: inout [UInt8]) { out += Array(searchKey(String(decoding: utf8, as: UTF8.self)).utf8) }
}
public struct SearchNeedle: Sendable, Hashable {
    public let words: [String]
    public init(_ text: String) { words = Folding.searchKey(text).split(separator: " ").map(String.init) }
}
