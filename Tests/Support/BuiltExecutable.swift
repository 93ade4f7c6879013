import Foundation

/// The executables of the package, which are built beside the tests.
package enum BuiltExecutable {
    /// Returns the path of an executable, or its name if there is none.
    package static func path(of name: String) -> String {
        let tests =
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
            ?? CommandLine.arguments[0]
        var folder = URL(fileURLWithPath: tests).deletingLastPathComponent()
        // On Apple platforms, the tests are a bundle some folders deeper.
        while folder.path != "/" {
            let candidate = folder.appendingPathComponent(name)
            if FileManager.default.isExecutableFile(atPath: candidate.path) { return candidate.path }
            folder.deleteLastPathComponent()
        }
        return name
    }
}
