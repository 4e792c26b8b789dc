/* Old answers, and a history that has begun anew: see history.h. */
#include "recipes/parts/history.h"

/* Of a tenth of a second each, or more. */
enum { DOUBTS = 8 };

bool evzk__history_is_another(const struct evzk__history *h,
                              const struct evzk__machine *m)
{
    return h->session_no != m->seen.session_no;
}

bool evzk__history_doubts(struct evzk__history *h,
                          const struct evzk__machine *m, bool older)
{
    if (older && !evzk__history_is_another(h, m) && h->doubts < DOUBTS) {
        h->doubts++;
        return true;
    }
    h->session_no = m->seen.session_no;
    h->doubts = 0;
    return false;
}

/* FNV-1a, of 64 bits. */
uint64_t evzk__history_print(uint64_t print, const void *data, size_t len)
{
    const unsigned char *at = data;

    if (print == 0)
        print = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < len; i++)
        print = (print ^ at[i]) * UINT64_C(1099511628211);
    return print;
}
