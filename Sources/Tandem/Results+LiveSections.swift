/// Observation of a query in sections.
extension Results {
    /// Publishes the objects in sections, one for each value of a property. Sections are in the order of the values,
    /// nil first, or last if descending. Objects within a section have this query's order.
    ///
    /// ```swift
    /// let cards = store.objects(Card.self).sorted(by: \.shop)
    /// let publisher = cards.sectionsPublisher(by: \.category).on(.main)
    /// let subscription = publisher.sink(receiveCompletion: { _ in }) { sections in
    ///     for section in sections { print(section.key, section.count) }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - property: The property with the key of each section.
    ///   - ascending: Whether the keys ascend.
    public func sectionsPublisher<P: PropertyExpression>(
        by property: KeyPath<M.Columns, P>, ascending: Bool = true
    ) -> LivePublisher<LiveSections<P.Value, M>> where P.Root == M, P.Value: Sendable {
        sectionedChangesetPublisher(by: property, ascending: ascending).mapOutput { $0.sections }
    }

    /// Publishes the objects in sections, one for each first letter of a folded text. Sections are in the order of the
    /// letters, nil first, or last if descending. Objects within a section have this query's order.
    ///
    /// ```swift
    /// let cards = store.objects(Card.self).sorted(by: \.shop)
    /// let publisher = cards.sectionsPublisher(by: \.shop.firstLetter).on(.main)
    /// let subscription = publisher.sink(receiveCompletion: { _ in }) { sections in
    ///     for section in sections { print(section.key ?? "–", section.count) }  // Л 12, М 40, П 8
    /// }
    /// ```
    ///
    /// The sections and their keys equal those of `sectioned(by: \.shop.firstLetter)`. Letters are those of
    /// the store's ``Store/Configuration/sortLanguage``, in upper case. Empty texts have an empty key.
    ///
    /// - Parameters:
    ///   - letter: The first letter of a folded property: `\.shop.firstLetter`.
    ///   - ascending: Whether the letters ascend.
    public func sectionsPublisher(
        by letter: KeyPath<M.Columns, FirstLetter<M>>, ascending: Bool = true
    ) -> LivePublisher<LiveSections<String?, M>> {
        sectionedChangesetPublisher(by: letter, ascending: ascending).mapOutput { $0.sections }
    }

    /// Publishes the changes of objects in sections by a property: see `sectionsPublisher(by:ascending:)`.
    ///
    /// - Parameters:
    ///   - property: The property with the key of each section.
    ///   - ascending: Whether the keys ascend.
    /// - Complexity: A change costs O(*s* log *n*) for *s* sections with *n* objects in total.
    public func sectionedChangesetPublisher<P: PropertyExpression>(
        by property: KeyPath<M.Columns, P>, ascending: Bool = true
    ) -> LivePublisher<SectionedChangeSet<P.Value, M>> where P.Root == M, P.Value: Sendable {
        let property = M.Columns()[keyPath: property]
        return sectionedPublisher(property.__column, ascending: ascending) { _, observed in
            RowMaker.sections(property, observed: observed)
        } key: { row, path in
            row.sectionValue(property, store: path)
        }
    }

    /// Publishes the changes of objects in sections by first letter: see `sectionsPublisher(by:ascending:)`.
    ///
    /// An object moves to another section if the first letter of its text changes.
    ///
    /// - Parameters:
    ///   - letter: The first letter of a folded property: `\.shop.firstLetter`.
    ///   - ascending: Whether the letters ascend.
    /// - Complexity: A change costs O(*s* log *n*) for *s* sections with *n* objects in total.
    public func sectionedChangesetPublisher(
        by letter: KeyPath<M.Columns, FirstLetter<M>>, ascending: Bool = true
    ) -> LivePublisher<SectionedChangeSet<String?, M>> {
        let letter = M.Columns()[keyPath: letter]
        return sectionedPublisher(letter.column(store.collation), ascending: ascending) { sections, observed in
            RowMaker.letters(M.self, in: sections, observed: observed)
        } key: { row, _ in
            row.sectionLetter(of: M.__definition)
        }
    }

    /// Publishes the changes of objects in sections by the values of a column.
    ///
    /// - Parameters:
    ///   - column: The column that determines the sections.
    ///   - maker: Returns a factory for rows in sections, from the order of the sections and the observed columns.
    ///   - key: Returns the key of the section of a row of the store at a path.
    private func sectionedPublisher<Key: Sendable>(
        _ column: ColumnPath, ascending: Bool, maker: @escaping @Sendable (RowOrder, ColumnMask) -> RowMaker,
        key: @escaping @Sendable (LiveRow, _ path: String) -> Key
    ) -> LivePublisher<SectionedChangeSet<Key, M>> {
        let section = SortTerm.column(column, ascending: ascending, nilsFirst: ascending)
        let sections = RowOrder([section], isPrefix: true)
        // distinct(by:) selects by the query's own order, not by the order of the sections.
        return LivePublisher(store: store) { [store, query = query.nestedIfPicky] in
            let reading = RowReading(
                maker: maker(sections, query.observedMask(in: store.schema)), section: sections,
                order: RowOrder(query.order))
            let part = ListPart(
                LiveList(query, reading: reading, in: store.schema, section: section), tuning: store.live.tuning)
            return LiveComposition(parts: [part]) { [path = store.path] in
                let change = part.consumeChanges()
                let length = { (row: LiveRow) in row.sectionLength(of: M.__definition) }
                let sectionKey: @Sendable (LiveRow) -> Key = { key($0, path) }
                let element: @Sendable (LiveRow) -> M = { $0.object(M.self) }
                return SectionedChangeSet(
                    LiveSections(change.new, length: length, key: sectionKey, element: element),
                    previous: LiveSections(change.old, length: length, key: sectionKey, element: element),
                    changes: ChangeSet(change, element: element), length: length)
            }
        }
    }
}
