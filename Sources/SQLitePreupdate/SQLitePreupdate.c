#include "SQLitePreupdate.h"

#include <stddef.h>

// Weak, so that a process with an SQLite that lacks them starts all the same.
extern void *sqlite3_preupdate_hook(
    void *database,
    void (*hook)(void *, void *, int, const char *, const char *, long long, long long),
    void *context) __attribute__((weak));
extern int sqlite3_preupdate_old(void *database, int column, void **value) __attribute__((weak));

int tandem_preupdate_is_available(void) {
    return sqlite3_preupdate_hook != NULL && sqlite3_preupdate_old != NULL;
}

void tandem_preupdate_set(void *database, TandemPreupdateHook hook, void *context) {
    if (sqlite3_preupdate_hook == NULL) return;
    sqlite3_preupdate_hook(
        database, (void (*)(void *, void *, int, const char *, const char *, long long, long long))hook, context);
}

int tandem_preupdate_old(void *database, int column, void **value) {
    // 21 is SQLITE_MISUSE.
    return sqlite3_preupdate_old == NULL ? 21 : sqlite3_preupdate_old(database, column, value);
}
