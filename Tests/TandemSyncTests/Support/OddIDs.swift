import Tandem

/// IDs that could break an address, a filter or a quoted text.
let oddIDs: [ServerID] = [
    "O'Neil", "say \"hi\"", "a/b/../c", "it's/b", "1+1", "a b", "%2F", "?a=b&c#d", "карта", "👩‍👧", "...",
    "\\", "$filter",
]
