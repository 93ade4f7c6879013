import Tandem
import TandemSync

// The store in memory has no files.

extension MemoryTransaction {
    func pendingFiles(of localID: LocalID, in table: String) throws -> (count: Int, reason: String?) { (0, nil) }

    func countOfPendingFiles(in table: String?) throws -> Int { 0 }

    func waitsForReplacements(_ id: PendingOperation.ID) throws -> Bool { false }

    func deferToUpload(_ id: PendingOperation.ID, removingAdditions: Bool) throws -> Bool { false }

    func filesReleased(by id: PendingOperation.ID, for item: ServerItem?, isOver: Bool) throws -> [UnwantedFile] { [] }

    func addUnwanted(_ file: UnwantedFile) throws {}

    func forgetUnwantedFiles() throws {}
}
