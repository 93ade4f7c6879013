import Tandem

/// IDs that an address, a filter or a quoted text could tear apart.
let oddIDs: [ServerID] = [
    "O'Neil", "say \"hi\"", "a/b/../c", "it's/b", "1+1", "a b", "%2F", "?a=b&c#d", "карта", "👩‍👧", "...", "\\", "$filter",
]
