#ifndef HEAP_SIZE_H
#define HEAP_SIZE_H

#include <stdint.h>

/// The bytes that the process has allocated and not freed, as its allocator counts them. Returns 0 if unknown.
uint64_t heap_size(void);

#endif
