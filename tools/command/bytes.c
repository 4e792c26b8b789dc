/* Copies, reads and prints bytes. */
#include <errno.h>
#include <langinfo.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bytes.h"
#include "command.h"

bool bytes_copy(struct bytes *to, const void *data, size_t len)
{
    to->data = malloc(len + 1);
    to->len = to->data ? len : 0;
    if (!to->data)
        return false;
    if (len)
        memcpy(to->data, data, len);
    to->data[len] = '\0';
    return true;
}

void bytes_free(struct bytes *b)
{
    free(b->data);
    b->data = NULL;
    b->len = 0;
}

int bytes_read(struct bytes *to, FILE *from, size_t max, const char *advice)
{
    char part[65536];
    FILE *all = open_memstream(&to->data, &to->len);
    size_t n = 0, sum = 0;

    while (all && sum <= max && (n = fread(part, 1, sizeof(part), from)) > 0) {
        fwrite(part, 1, n, all);
        sum += n;
    }
    if (!all || fclose(all)) {
        complain("out of memory");
        return STATUS_FAILED;
    }
    if (ferror(from)) {
        complain("cannot read the standard input: %s", strerror(errno));
        return STATUS_FAILED;
    }
    if (sum > max) {
        complain("the standard input has more than %zu bytes: %s", max, advice);
        return STATUS_USAGE;
    }
    return 0;
}

/* How many bytes the character at `s` has; 0: it is no UTF-8. */
static size_t character(const unsigned char *s, size_t left)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t n = s[0] < 0x80   ? 1
               : s[0] < 0xc0 ? 0
               : s[0] < 0xe0 ? 2
               : s[0] < 0xf0 ? 3
               : s[0] < 0xf8 ? 4
                             : 0;
    uint32_t code = s[0] & (0xffu >> (n + 1));

    if (n < 2 || n > left)
        return n == 1;
    for (size_t i = 1; i < n; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (s[i] & 0x3f);
    }
    return code >= least[n] && code <= 0x10ffff &&
                   (code < 0xd800 || code > 0xdfff)
               ? n
               : 0;
}

static bool is_text(const unsigned char *s, size_t len)
{
    size_t n = 1;

    for (size_t at = 0; at < len && n; at += n)
        n = character(s + at, len - at);
    return n != 0;
}

static char *base64(const unsigned char *s, size_t len)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 "abcdefghijklmnopqrstuvwxyz0123456789+/";
    char *text = malloc((len + 2) / 3 * 4 + 1), *end = text;

    for (size_t at = 0; text && at < len; at += 3) {
        size_t n = len - at < 3 ? len - at : 3;
        uint32_t bits = (uint32_t)s[at] << 16 |
                        (n > 1 ? (uint32_t)s[at + 1] << 8 : 0) |
                        (n > 2 ? s[at + 2] : 0u);

        for (size_t i = 0; i < 4; i++)
            *end++ = i <= n ? digits[bits >> (18 - 6 * i) & 63] : '=';
    }
    if (text)
        *end = '\0';
    return text;
}

void bytes_add(struct json_object *object, const char *name, const void *data,
               size_t len)
{
    char long_name[300], *text;

    if (is_text(data, len)) {
        json_object_object_add(
            object, name,
            json_object_new_string_len(len ? data : "", (int)len));
        return;
    }
    snprintf(long_name, sizeof(long_name), "%s_base64", name);
    text = base64(data, len);
    json_object_object_add(object, long_name,
                           json_object_new_string(text ? text : ""));
    free(text);
}

/* How many bytes a terminal would show as they are; 0: the first is none of
 * them.  Characters U+0080 to U+009F are control characters, too. */
static size_t harmless(const unsigned char *s, size_t left)
{
    size_t n = character(s, left);

    if (n == 1)
        return s[0] >= ' ' && s[0] != 0x7f;
    return n == 2 && s[0] == 0xc2 && s[1] < 0xa0 ? 0 : n;
}

/* Prints the first character, and returns how many bytes it has.  `as_they_are`
 * are characters without an escape. */
static size_t print_one(FILE *to, const unsigned char *s, size_t left,
                        const char *as_they_are)
{
    size_t n = harmless(s, left);

    if (n > 1 || (s[0] && strchr(as_they_are, s[0])))
        n = fwrite(s, 1, n > 1 ? n : 1, to);
    else if (s[0] == '\\')
        n = fwrite("\\\\", 1, 2, to) / 2;
    else if (n == 1)
        putc(s[0], to);
    else if (s[0] == '\n')
        n = fwrite("\\n", 1, 2, to) / 2;
    else if (s[0] == '\t')
        n = fwrite("\\t", 1, 2, to) / 2;
    else
        fprintf(to, "\\x%02x", s[0]);
    return n ? n : 1;
}

static void print_all(FILE *to, const void *data, size_t len,
                      const char *as_they_are)
{
    const unsigned char *s = data;

    for (size_t at = 0; at < len;)
        at += print_one(to, s + at, len - at, as_they_are);
}

void bytes_print(FILE *to, const void *data, size_t len)
{
    print_all(to, data, len, "");
}

/* libsmartcols never ends with characters that the locale has not. */
void bytes_print_text(FILE *to, const char *text)
{
    bool all = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;

    for (; *text; text += !all) {
        if (all)
            text +=
                print_one(to, (const unsigned char *)text, strlen(text), "\\");
        else if ((unsigned char)*text < 0x80)
            print_one(to, (const unsigned char *)text, 1, "\\");
        else
            fprintf(to, "\\x%02x", (unsigned char)*text);
    }
}

void bytes_write(const void *data, size_t len)
{
    if (isatty(STDOUT_FILENO))
        print_all(stdout, data, len, "\\\n\t");
    else
        fwrite(data, 1, len, stdout);
}
