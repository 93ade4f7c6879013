import Testing

/// Expects the expansion of a source, without diagnostics.
func expect(
    _ source: String, expandsTo expected: String, isConforming: Bool = false,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    let expansion = Expansion(of: source, isConforming: isConforming)
    #expect(expansion.diagnostics == "", sourceLocation: sourceLocation)
    #expect(expansion.source == expected, "\(difference(expansion.source, expected))", sourceLocation: sourceLocation)
}

/// Expects the diagnostics of a source, their common ID, and the result of the fix-its.
func expect(
    _ source: String, reports diagnostics: String, id: String, fixed: String? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    expect(
        source, reports: diagnostics, ids: Expansion(of: source).diagnosticIDs.map { _ in id }, fixed: fixed,
        sourceLocation: sourceLocation)
}

/// Expects the diagnostics of a source, their IDs, and the result of the fix-its.
func expect(
    _ source: String, reports diagnostics: String, ids: [String], fixed: String? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    let expansion = Expansion(of: source)
    #expect(expansion.diagnostics == diagnostics, "\(expansion.diagnostics)", sourceLocation: sourceLocation)
    #expect(expansion.diagnosticIDs == ids, sourceLocation: sourceLocation)
    #expect(expansion.fixedSource == fixed ?? source, "\(expansion.fixedSource)", sourceLocation: sourceLocation)
}

/// Expects a source to expand without diagnostics.
func expectNoDiagnostics(_ source: String, sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(Expansion(of: source).diagnostics == "", sourceLocation: sourceLocation)
}

/// Expects the expansion of a source to contain some texts, and not to contain others.
func expect(
    _ source: String, toContain texts: [String] = [], butNot others: [String] = [],
    sourceLocation: SourceLocation = #_sourceLocation
) {
    let expansion = Expansion(of: source)
    #expect(expansion.diagnostics == "", sourceLocation: sourceLocation)
    for text in texts {
        #expect(
            expansion.source.contains(text), "\(text) is not in\n\(expansion.source)", sourceLocation: sourceLocation)
    }
    for text in others {
        #expect(!expansion.source.contains(text), "\(text) is in\n\(expansion.source)", sourceLocation: sourceLocation)
    }
}

/// Returns the different lines of two texts.
private func difference(_ actual: String, _ expected: String) -> String {
    let actualLines = actual.split(separator: "\n", omittingEmptySubsequences: false)
    let expectedLines = expected.split(separator: "\n", omittingEmptySubsequences: false)
    return actualLines.difference(from: expectedLines).map { change in
        switch change {
        case .insert(let line, let text, _): "+\(line + 1) \(text)"
        case .remove(let line, let text, _): "-\(line + 1) \(text)"
        }
    }.joined(separator: "\n")
}
