#include "HeapSize.h"

#if defined(__APPLE__)
#include <malloc/malloc.h>

uint64_t heap_size(void) {
    malloc_statistics_t statistics;
    malloc_zone_statistics(NULL, &statistics);
    return statistics.size_in_use;
}
#elif defined(__GLIBC__)
#include <malloc.h>

uint64_t heap_size(void) {
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}
#else
uint64_t heap_size(void) { return 0; }
#endif
