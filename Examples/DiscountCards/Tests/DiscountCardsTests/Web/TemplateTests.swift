import Foundation
import PageServer
import Testing

@testable import DiscountCards

@Suite struct TemplateTests {
    /// Texts that would end an element, an attribute or a script.
    static let hostile = [
        "<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "' onfocus='alert(1)", "</title><script>",
        "{{token}}", "{{{token}}}", "&lt;script&gt;", "`${alert(1)}`", "\u{0}<b>", "-->",
        // Characters that consist of a sign of HTML and an accent.
        "\"\u{301} onfocus=alert(1) autofocus x=", "<\u{338}script>", ">\u{301}<\u{20E3}svg", "'\u{FE0F}",
    ]

    private let templates: Templates

    init() throws {
        templates = try Templates(folder: webResources.appendingPathComponent("templates"))
    }

    /// Returns the scalars of a text that can't occur in an escaped value.
    private func signs(_ text: String) -> Int { text.unicodeScalars.count { "<>\"'`".unicodeScalars.contains($0) } }

    @Test(arguments: hostile) func `an escaped text has no sign of HTML, and shows the same`(text: String) {
        let escaped = ScalarEscaping().escapeText(text)
        #expect(signs(escaped) == 0)
        let shown = [
            ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&#96;", "`"), ("&amp;", "&"),
        ].reduce(escaped) { $0.replacingOccurrences(of: $1.0, with: $1.1, options: .literal) }
        #expect(shown.unicodeScalars.elementsEqual(text.replacing("\0", with: "\u{FFFD}").unicodeScalars))
    }

    @Test(arguments: hostile) func `hostile values add no sign of HTML to any template`(text: String) throws {
        func values(_ text: String) -> [(String, Any)] {
            struct Page {
                let token, person, store: String
                let canLock = true
            }
            struct Gate {
                let token, store: String
                let message: String?
                let isPassword = false
            }
            struct Line {
                let account, sentence: String
                let isAutomatic = true
            }
            struct Sync {
                let line: Line
                let isConnected = true
                let hasConflicts = true
                let hasChanges = true
                let conflicts: [Conflict]
                let changes: [Change]
                let more: String?
            }
            struct Conflict {
                let number: Int64 = 7
                let version, title, message: String
                let isConflict = true
                let hasRows = true
                let isOpen = true
                let rows: [ConflictView.Row]
                let choices: [ConflictView.Choice]
            }
            struct Change {
                let title, kind, state, stateName, changed, time: String
            }
            struct Card {
                let id, path, shop, owner, points, state, stateWords, number: String
                let isStarred = true
                let barcode: BarcodeImage? = nil
                let photo: Photo?
                let kinds: String?
            }
            struct Photo {
                let path, name, words: String
            }
            struct Form {
                let path, title, shop, number, points: String
                let owners: [CardForm.Owner]
            }
            struct Login {
                let name, server: String
                let hasToken = true
            }
            let row = ConflictView.Row(
                name: text, base: text, mine: text, theirs: text, isDisputed: true, property: text, isOpen: true,
                offersBase: true, isMine: true, isTheirs: true)
            let conflict = Conflict(
                version: text, title: text, message: text, rows: [row],
                choices: [.init(path: text, label: text, hint: text)])
            let change = Change(title: text, kind: text, state: text, stateName: text, changed: text, time: text)
            let photo = Photo(path: text, name: text, words: text)
            return [
                ("page", Page(token: text, person: text, store: text)),
                ("gate", Gate(token: text, store: text, message: text)),
                ("login", Login(name: text, server: text)),
                ("error", ["message": text]), ("reload", ["path": text]),
                (
                    "sync",
                    Sync(
                        line: Line(account: text, sentence: text), conflicts: [conflict], changes: [change], more: text)
                ),
                (
                    "card",
                    Card(
                        id: text, path: text, shop: text, owner: text, points: text, state: text, stateWords: text,
                        number: text,
                        photo: photo, kinds: text)
                ),
                (
                    "form",
                    Form(
                        path: text, title: text, shop: text, number: text, points: text,
                        owners: [.init(id: text, name: text, isChosen: true)])
                ),
            ]
        }
        for ((name, hostile), (_, harmless)) in zip(values(text), values("x")) {
            let (bad, good) = (try templates.render(name, with: hostile), try templates.render(name, with: harmless))
            #expect(signs(bad) == signs(good), "\(name)")
            #expect(!bad.unicodeScalars.contains("\0"))
        }
    }

    @Test func `a bar code has its number as its name`() throws {
        let image = BarcodeImage(try #require(EAN13("4006381333931")))
        let text = try templates.render("barcode", with: image)
        #expect(text.contains("aria-label=\"Bar code 4 006381 333931\"") && text.contains(image.bars))
    }

    @Test func `no template has an inline script, handler or style`() throws {
        let folder = webResources.appendingPathComponent("templates")
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        #expect(files.count >= 8)
        for file in files {
            let text = try String(contentsOf: file, encoding: .utf8)
            #expect(text.firstMatch(of: /<script(?![^>]* src=)/) == nil, "\(file.lastPathComponent)")
            #expect(text.firstMatch(of: /\son[a-z]+=|\sstyle=|<style|javascript:|\{\{\{|\{\{&/) == nil)
        }
    }
}
