import Foundation

/// The memory of this process.
enum Memory {
    /// The resident memory in bytes; 0 if the system does not report it.
    static var resident: Int {
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return 0 }
        let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return pages * sysconf(Int32(_SC_PAGESIZE))
    }

    /// The allocated memory in bytes, by glibc's count; `nil` with another allocator.
    static var allocated: Int? {
        var text: UnsafeMutablePointer<CChar>?
        var size = 0
        guard let describe, let stream = open_memstream(&text, &size) else { return nil }
        _ = describe(0, stream)
        fclose(stream)
        defer { free(text) }
        // The totals follow the numbers of each arena.
        guard let totals = text.map({ String(cString: $0) })?.components(separatedBy: "</heap>").last,
            let system = number("<system type=\"current\"", totals), let fast = number("type=\"fast\"", totals),
            let rest = number("type=\"rest\"", totals), let mapped = number("type=\"mmap\"", totals)
        else { return nil }
        return system - fast - rest + mapped
    }

    private static func number(_ mark: String, _ text: String) -> Int? {
        text.range(of: mark).flatMap { mark in
            text[mark.upperBound...].range(of: "size=\"").flatMap { size in
                Int(text[size.upperBound...].prefix { $0.isNumber })
            }
        }
    }

    /// `malloc_info`, which glibc's module does not export.
    private static let describe = dlsym(dlopen(nil, RTLD_NOW), "malloc_info").map {
        unsafeBitCast($0, to: (@convention(c) (Int32, UnsafeMutablePointer<FILE>) -> Int32).self)
    }
}
