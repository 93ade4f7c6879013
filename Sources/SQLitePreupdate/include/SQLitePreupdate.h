#ifndef SQLITE_PREUPDATE_H
#define SQLITE_PREUPDATE_H

#include <stdint.h>

// SQLite's preupdate hook (https://sqlite.org/c3ref/preupdate_blobwrite.html), which tells of each row before it is
// changed. The headers that Swift sees leave it out. It is compiled in only if SQLite was built with
// SQLITE_ENABLE_PREUPDATE_HOOK (Debian's is). Connections and values are SQLite's own, as untyped pointers.

typedef void (*TandemPreupdateHook)(
    void *context, void *database, int operation, const char *databaseName, const char *table,
    int64_t oldRowID, int64_t newRowID);

/// Whether the SQLite that the process runs with has the hook.
int tandem_preupdate_is_available(void);

/// Sets a connection's hook; NULL takes it off.
void tandem_preupdate_set(void *database, TandemPreupdateHook hook, void *context);

/// Inside the hook: a column's value before the change (an sqlite3_value), by its place in the table.
///
/// @return An SQLite result code.
int tandem_preupdate_old(void *database, int column, void **value);

#endif
