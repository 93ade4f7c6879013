import Tandem
import TandemSync

// The store in memory has no files.

extension MemoryTransaction {
    func pendingFiles(of localID: LocalID, in table: String) throws -> (count: Int, reason: String?) { (0, nil) }

    func countOfPendingFiles(in table: String?) throws -> Int { 0 }

    func waitsForReplacements(_ id: Operation.ID) throws -> Bool { false }

    func leaveToFiles(_ id: Operation.ID, removingAdditions: Bool) throws -> Bool { false }

    func filesLetGo(by id: Operation.ID, for item: ServerItem?, isOver: Bool) throws -> [UnwantedFile] { [] }

    func addUnwanted(_ file: UnwantedFile) throws {}

    func forgetUnwantedFiles() throws {}
}
