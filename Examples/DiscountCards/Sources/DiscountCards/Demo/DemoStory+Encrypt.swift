import Foundation
import Tandem

extension DemoStory {
    /// The passphrase of the store that this chapter creates if the demo has no key. It is public.
    private static let knownPassphrase = "три весёлых тигра"

    func encrypt(_ wallet: Wallet) throws {
        try chapter(
            "Encrypt",
            words:
                "With --key, or \(KeyOptions.variable) in the environment, a store is encrypted: each page of its file "
                + "and its log with AES-256-GCM, on the system's own SQLite. A passphrase adds a tenth of a second to "
                + "each opening."
        )
        let pair = try passphrase == nil ? makeEncryptedTwin() : exportPlainTwin(of: wallet)
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
        let words = source.cyrillicWords
        let shared = pair.isShown ? ["--key", pair.passphrase] : []
        let search = ["search", words, "--store", pair.shownPath]
        func show(_ arguments: [String], passphrase: String? = nil, ends status: Failure.Status? = nil) throws {
            let environment = passphrase == nil ? "" : "\(KeyOptions.variable)=… "
            screen.print("  \(screen.paint("$ \(environment)cards \(Self.shown(arguments))", in: .strong))")
            for line in try OtherProgram(arguments, passphrase: passphrase, in: folder).finish(status)
            where !line.isEmpty { screen.print("  \(screen.paint("│", in: .faint)) \(line.printable)") }
        }
        if pair.isShown {
            try show(["import", "brands.tsv", "--family", "--store", pair.shownPath] + shared)
        }
        try show(search + shared, passphrase: pair.isShown ? nil : pair.passphrase)
        try show(search + ["--key", "ошибка"], ends: .noPermission)
        try show(search, ends: .badData)
        screen.print()
        try checkErrors(pair)
        try showNoise(of: pair, wallet: wallet)
    }

    /// Two stores with the same cards.
    private struct Pair {
        let plain: String
        let encrypted: String
        let passphrase: String
        /// The path of the encrypted store, relative to the demo's folder.
        let shownPath: String
        /// Whether the demo may print the passphrase.
        let isShown: Bool
    }

    /// Prepares an encrypted store beside the demo's plain one, which `cards import --key` creates.
    private func makeEncryptedTwin() throws -> Pair {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
        let list = BrandFile.text(source.entries)
        try Data(list.utf8).write(to: folder.appendingPathComponent("brands.tsv"))
        return Pair(
            plain: path, encrypted: folder.appendingPathComponent("secret.tandem").path,
            passphrase: Self.knownPassphrase, shownPath: "secret.tandem", isShown: true)
    }

    /// Exports a plain copy beside the demo's encrypted store.
    private func exportPlainTwin(of wallet: Wallet) throws -> Pair {
        let url = URL(fileURLWithPath: path)
        let plain = url.deletingLastPathComponent().appendingPathComponent("plain.tandem").path
        try wallet.store.exportPlain(to: plain)
        return Pair(
            plain: plain, encrypted: path, passphrase: passphrase ?? "", shownPath: url.lastPathComponent,
            isShown: false)
    }

    /// Checks the error codes behind the other processes' messages.
    private func checkErrors(_ pair: Pair) throws {
        func code(opening path: String, passphrase: String?) throws -> TandemError.Code? {
            do {
                try Wallet.openStore(at: path, passphrase: passphrase).close()
                return nil
            } catch let error as TandemError {
                return error.code
            }
        }
        let copies = try StolenFiles(of: pair.encrypted, to: copyFolder("untouched"))
        let copy = copyFolder("untouched").appendingPathComponent((pair.encrypted as NSString).lastPathComponent).path
        let codes = try [code(opening: copy, passphrase: "ошибка"), code(opening: copy, passphrase: nil)]
        let after = try Data(contentsOf: URL(fileURLWithPath: copy))
        try check(
            codes == [.wrongKey, .notAStore] && after == copies.files[0],
            sentence: "a wrong key is TandemError.\(TandemError.Code.wrongKey), none at all is "
                + "TandemError.\(TandemError.Code.notAStore), and neither touches the file.")
    }

    /// Compares the files of both stores, including their logs, while both are open.
    private func showNoise(of pair: Pair, wallet: Wallet) throws {
        let opened = pair.isShown ? try Wallet.openStore(at: pair.encrypted, passphrase: pair.passphrase) : wallet.store
        defer { if pair.isShown { opened.close() } }
        let found = try opened.objects(Card.self).where { $0.shop.matches(source.cyrillicWords) }.all()
        // Writes a change, so that the log is not empty.
        _ = try opened.write { tx in try found.map { try tx.update(Card.self, localID: $0.localID) { $0.points += 1 } }
        }

        let plain = try StolenFiles(of: pair.plain, to: copyFolder("plain"))
        let encrypted = try StolenFiles(of: pair.encrypted, to: copyFolder("encrypted"))
        defer { try? FileManager.default.removeItem(at: copyFolder("plain").deletingLastPathComponent()) }
        for (title, files) in [("A plain file begins", plain), ("The encrypted file begins", encrypted)] {
            screen.print("\n  \(screen.paint(title, in: .faint))")
            for line in HexDump.lines(files.files[0].prefix(48)) { screen.print("    \(line)") }
        }
        screen.print()
        var table = Table(
            .init(title: "How often it stands in all files", isFlexible: true), .init(title: "Plain", isNumber: true),
            .init(title: "Encrypted", isNumber: true))
        let words = try ["SQLite format 3", "CREATE TABLE"] + knownNames(opened)
        let counts = words.map { (word: $0, plain: plain.count(of: $0), encrypted: encrypted.count(of: $0)) }
        for (word, plain, encrypted) in counts {
            table.append(
                .init(word), .init(plain.grouped), .init(encrypted.grouped, colour: encrypted == 0 ? .good : .bad))
        }
        table.append("bytes in all", .init(plain.size.grouped), .init(encrypted.size.grouped))
        let entropies = (plain: plain.entropy, encrypted: encrypted.entropy)
        func bits(_ entropy: Double) -> String { String(format: "%.2f", entropy) }
        table.append("bits of entropy in a byte", .init(bits(entropies.plain)), .init(bits(entropies.encrypted)))
        table.print(on: screen)
        screen.print()
        try check(
            !found.isEmpty && counts.allSatisfy { $0.plain > 0 && $0.encrypted == 0 },
            sentence: "of \(words.count) words that stand in the plain files, the encrypted ones hold none.")
        try check(
            entropies.encrypted > 7.99 && entropies.plain < 7.9,
            sentence: "the encrypted file has the entropy of noise.")
    }

    /// Returns one brand for each search, as the shop spells it.
    private func knownNames(_ store: Store) throws -> [String] {
        try source.searches.prefix(8).compactMap { search in
            try store.objects(Card.self).where { $0.shop.matches(search.words) }.sorted(by: \.shop).first()?.shop
        }
        .reduce(into: []) { names, name in if !names.contains(name) { names.append(name) } }
    }

    private func copyFolder(_ name: String) -> URL {
        URL(fileURLWithPath: path).deletingLastPathComponent().appendingPathComponent("stolen/\(name)")
    }
}
