/// A change of one property in all objects of a result: `$0.isPinned.set(to: true)`.
///
/// The value is a constant, another property, a predicate, or arithmetic on properties. Its type is the property's:
///
/// ```swift
/// try store.write { tx in
///     try tx.update(tx.objects(Card.self).where { $0.shop == "Лента" }) {
///         [$0.isPinned.set(to: true), $0.points.set(to: $0.points + 10)]
///     }
/// }
/// ```
public struct Assignment<Root: Model>: Sendable {
    /// The assigned property.
    let target: ColumnPath
    /// The values of the object that the new value depends on.
    private(set) var leaves: [ValueLeaf]
    /// Whether the new value is exactly that of the only leaf.
    let isLeaf: Bool
    /// Computes and encodes the new value. The index is that of the column with the first leaf.
    private let compute: @Sendable (RowDecoder, Int32) throws -> StorageValue
    /// The encoded constant, or `nil` if the value depends on the object.
    let constant: StorageValue?
    /// Whether the constant can't be encoded.
    let isInvalid: Bool

    /// Creates the assignment of a constant. The assignment retains it, so that an attachment's file stays available.
    fileprivate init<Value: Sendable>(target: ColumnPath, constant: Value, encode: (Value) -> StorageValue) {
        let value = encode(constant)
        self.target = target
        leaves = []
        isLeaf = false
        compute = { _, _ in withExtendedLifetime(constant) { value } }
        self.constant = value
        isInvalid = value == .null && (constant as? any AnyOptional).map { $0.wrapped != nil } ?? true
    }

    fileprivate init<E: ValueExpression>(
        target: ColumnPath, expression: E, encode: @escaping @Sendable (E.Value) -> StorageValue
    ) where E.Root == Root {
        let computed = expression.__computed
        self.target = target
        leaves = computed.leaves
        isLeaf = computed.isLeaf
        compute = { encode(try computed.compute($0, $1)) }
        constant = nil
        isInvalid = false
    }

    /// Returns this assignment with the sort keys of the folded texts in its predicates.
    func resolved(by collation: Collation) -> Assignment {
        var resolved = self
        resolved.leaves = leaves.map { $0.resolved(by: collation) }
        return resolved
    }

    /// Returns the new value of the object at a row. The index is that of the column with the first leaf.
    func value(_ row: RowDecoder, column: Int32) throws -> StorageValue {
        try compute(row, column)
    }
}

/// A value that may be nil.
protocol AnyOptional {
    var wrapped: Any? { get }
}

extension Optional: AnyOptional {
    var wrapped: Any? { self }
}

extension PropertyExpression where Value: Sendable {
    /// Returns an assignment of a constant: `$0.isPinned.set(to: true)`.
    ///
    /// - Parameter value: The new value.
    public func set(to value: Value) -> Assignment<Root> {
        Assignment(target: __column, constant: value, encode: __encode)
    }

    /// Returns an assignment of another property, a predicate or arithmetic: `$0.points.set(to: $0.points + 10)`,
    /// `$0.isPinned.set(to: !$0.isPinned)`.
    ///
    /// - Parameter expression: The new value, which is computed from the object's values before the change.
    public func set<E: ValueExpression>(to expression: E) -> Assignment<Root>
    where E.Root == Root, E.Value == Value {
        Assignment(target: __column, expression: expression, encode: __encode)
    }

    /// Returns an assignment to an optional property of an expression that is not optional.
    ///
    /// - Parameter expression: The new value, which is computed from the object's values before the change.
    public func set<E: ValueExpression>(to expression: E) -> Assignment<Root>
    where E.Root == Root, Value == E.Value? {
        Assignment(target: __column, expression: expression) { [encode = __encode] in encode($0) }
    }
}

extension ReferenceProperty {
    /// Returns an assignment of an object: `$0.owner.set(to: person)`.
    ///
    /// - Parameter object: The object to refer to.
    public func set(to object: Target) -> Assignment<Root> {
        set(to: object.reference)
    }
}

extension ReferencesProperty {
    /// Returns an assignment of a list of references: `$0.tags.set(to: [tag.reference])`.
    ///
    /// - Parameter references: The references of the new list, in its order.
    public func set(to references: [Reference<Target>]) -> Assignment<Root> {
        let codec = Codec.of([Reference<Target>].self)
        return Assignment(target: __column, constant: references) { codec.storageValue($0) }
    }
}
