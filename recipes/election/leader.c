/* What the `leader` znode says.
 *
 * How it can fail: anybody may write to it.  A text of another form names no
 * leader. */
#include "recipes/election/leader.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/name.h"

bool evzk__leader_parse(char *text, size_t len, evzk_leader *leader)
{
    char *space, *end;

    if (text[0] < '1' || text[0] > '9')
        return false;
    leader->epoch = strtoull(text, &space, 10);
    end = memchr(text, '\n', len);
    if (!end || end <= space || *space != ' ' ||
        !evzk__name_ok(space + 1, (size_t)(end - space - 1)))
        return false;
    *end = '\0';
    leader->node = space + 1;
    leader->data = end + 1;
    leader->data_len = len - (size_t)(end + 1 - text);
    return true;
}
