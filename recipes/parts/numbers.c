/* Are a directory's sequence numbers used up? */
#include "recipes/parts/numbers.h"

bool evzk__numbers_used_up(int32_t seq, const struct evzk__stat *dir)
{
    /* cversion counts each create twice, and less what is still there. */
    uint32_t twice = (uint32_t)dir->cversion + (uint32_t)dir->children;

    return (seq == INT32_MAX || seq < 0) && twice == 2u * INT32_MAX;
}
