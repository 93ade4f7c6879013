import Foundation
import TandemBrowser
import TandemInspector

/// The executable `tandem`.
@main
enum TandemCommand {
    static func main() {
        exit(Inspector.main(Array(CommandLine.arguments.dropFirst()), browse: { try StoreBrowser.serve($0) }))
    }
}
