import Foundation
import Tandem
import TandemSync
import TandemSyncTestScript

/// A process that tests start and kill while it synchronizes a store with a server. It prints one line for each action.
@main struct SyncPeerMain {
    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        do {
            guard arguments.count >= 4 else { throw Unknown() }
            let line = try SyncPeer.Line(argument: arguments[2])
            let store = try SyncPeer.open(arguments[1], hasFiles: line.hasFiles)
            switch arguments[0] {
            case "run": try await RandomLife(store, line, name: arguments[3]).run()
            case "files": try await FileLife(store, line, name: arguments[3]).run()
            case "play": try await ScriptedLife(store, line).play(arguments[3...])
            default: throw Unknown()
            }
        } catch {
            say("error \(error)")
            exit(3)
        }
    }

    private struct Unknown: Error {}

    /// Prints a line at once, so that a kill can't lose it. A single write keeps the lines of two threads apart.
    static func say(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        _ = bytes.withUnsafeBytes { Foundation.write(1, $0.baseAddress, $0.count) }
    }
}
