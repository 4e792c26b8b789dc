/* The readers under libFuzzer:
 *
 *   tests/fuzz/fuzz --reader=tx -max_total_time=60 corpus
 * .../tests/fuzz/seeds/tx tests/fuzz/fuzz --list
 *
 * The input that ends it is left in a file: put that into the reader's seeds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "readers.h"

static const struct reader *reader;

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    static const char flag[] = "--reader=";

    for (int i = 1; i < *argc; i++) {
        if (strncmp((*argv)[i], flag, sizeof flag - 1) == 0)
            reader = reader_of((*argv)[i] + sizeof flag - 1);
    }
    if (reader)
        return 0;
    for (const struct reader *r = readers; r->name; r++)
        printf("%s\n", r->name);
    exit(*argc == 2 && strcmp((*argv)[1], "--list") == 0 ? 0 : 2);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    reader->read(data, len);
    return 0;
}
