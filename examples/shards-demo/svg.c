/* The picture: who led how many shards over time, and below, on a scale of
 * powers of ten, how many had no leader. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "demo.h"

enum { WIDTH = 900, LEFT = 60, RIGHT = 880, TOP = 62, BOTTOM = 262 };
enum { LOW_TOP = 296, LOW_BOTTOM = 366, HEIGHT = 410 };

static const char *const COLOUR[PROCESSES] = {"#3b6fb6", "#d9822b", "#2f9e6e",
                                              "#c2445a", "#8a5cc2", "#2596a8"};

static double x_of(const struct result *r, size_t i)
{
    return LEFT + (RIGHT - LEFT) * (double)i / (double)(r->samples - 1);
}

/* Of all below it and its own. */
static double y_of(const struct result *r, size_t i, unsigned who)
{
    uint32_t sum = 0;

    for (unsigned p = 0; p < who; p++)
        sum += r->sample[i].led[p];
    return BOTTOM - (BOTTOM - TOP) * (double)sum / r->count;
}

static void text(FILE *f, double x, double y, const char *anchor,
                 const char *what)
{
    fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", x,
            y, anchor, what);
}

static void area(FILE *f, const struct result *r, unsigned who)
{
    fprintf(f, "<path fill=\"%s\" d=\"M", COLOUR[who]);
    for (size_t i = 0; i < r->samples; i++)
        fprintf(f, "%.1f %.1f ", x_of(r, i), y_of(r, i, who + 1));
    for (size_t i = r->samples; i-- > 0;)
        fprintf(f, "%.1f %.1f ", x_of(r, i), y_of(r, i, who));
    fprintf(f, "z\"><title>%c</title></path>\n", 'A' + (int)who);
}

static void legend(FILE *f)
{
    char name[2] = "A";

    for (unsigned p = 0; p < PROCESSES; p++, name[0]++) {
        double x = RIGHT - 200 + 36 * p;

        fprintf(f,
                "<rect x=\"%.0f\" y=\"14\" width=\"11\" height=\"11\" "
                "fill=\"%s\"/>\n",
                x, COLOUR[p]);
        text(f, x + 15, 24, "start", name);
    }
    text(f, LEFT, 24, "start", "Shards led, by process");
    text(f, LEFT, LOW_TOP - 8, "start", "Shards without a leader");
}

/* A line where something happens, and its number. */
static void phases(FILE *f, const struct result *r)
{
    char name[12];

    for (unsigned p = 0; p < r->phases; p++) {
        double x = LEFT + (RIGHT - LEFT) *
                              (double)(r->phase[p].us - r->began_us) /
                              (double)((r->samples - 1) * SAMPLE_US);

        fprintf(f, "<path class=\"at\" d=\"M%.1f %dV%d\"/>\n", x, TOP - 12,
                LOW_BOTTOM);
        snprintf(name, sizeof name, "%u", p + 1);
        text(f, x + 3, TOP - 4, "start", name);
    }
}

static void captions(FILE *f, const struct result *r)
{
    char line[256];
    size_t n = 0;

    for (unsigned p = 0; p < r->phases; p++)
        n += (size_t)snprintf(line + n, sizeof line - n, "%s%u %s",
                              p ? " \302\267 " : "", p + 1,
                              phase_name((enum phase)p));
    text(f, LEFT, HEIGHT - 10, "start", line);
}

static double low_y(uint32_t n)
{
    double y = n ? (log10(n) + 0.3) / 4.3 : 0;

    return LOW_BOTTOM - (LOW_BOTTOM - LOW_TOP) * (y < 1 ? y : 1);
}

static void low(FILE *f, const struct result *r)
{
    fprintf(f, "<path fill=\"#b3261e\" d=\"M%d %d", LEFT, LOW_BOTTOM);
    for (size_t i = 0; i < r->samples; i++)
        fprintf(f, "L%.1f %.1fH%.1f", x_of(r, i),
                low_y(r->sample[i].led[NOBODY]),
                i + 1 < r->samples ? x_of(r, i + 1) : RIGHT);
    fprintf(f, "V%dz\"/>\n", LOW_BOTTOM);
    for (uint32_t n = 1; n <= 1000; n *= 10) {
        char name[12];

        snprintf(name, sizeof name, "%" PRIu32, n);
        text(f, LEFT - 6, low_y(n) + 4, "end", name);
        fprintf(f, "<path class=\"grid\" d=\"M%d %.1fH%d\"/>\n", LEFT, low_y(n),
                RIGHT);
    }
}

static void axes(FILE *f, const struct result *r)
{
    double all = (double)r->samples * SAMPLE_US / 1e6;
    char name[24];

    for (int q = 0; q <= 4; q++) {
        snprintf(name, sizeof name, "%" PRIu32, r->count * (uint32_t)q / 4);
        text(f, LEFT - 6, BOTTOM - (BOTTOM - TOP) * q / 4.0 + 4, "end", name);
    }
    for (int s = 0; s <= all; s += 5) {
        snprintf(name, sizeof name, "%d s", s);
        text(f, LEFT + (RIGHT - LEFT) * s / all, LOW_BOTTOM + 16, "middle",
             name);
    }
}

bool svg_writable(const char *file)
{
    FILE *f = fopen(file, "ae");

    return f && fclose(f) == 0;
}

bool svg_write(const struct result *r, const char *file)
{
    FILE *f = fopen(file, "we");

    if (!f)
        return false;
    fprintf(f,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" "
            "role=\"img\" aria-label=\"Shards led by each process, and shards "
            "without a leader, over time\">\n"
            "<style>text{font:12px sans-serif;fill:#1b2430;"
            "paint-order:stroke;stroke:#f6f7f9;stroke-width:4px}"
            ".at{stroke:#1b2430;stroke-dasharray:3 3}"
            ".grid{stroke:#1b243022}</style>\n"
            "<rect width=\"%d\" height=\"%d\" rx=\"8\" fill=\"#f6f7f9\"/>\n",
            WIDTH, HEIGHT, WIDTH, HEIGHT);
    for (unsigned p = 0; p < PROCESSES; p++)
        area(f, r, p);
    low(f, r);
    phases(f, r);
    axes(f, r);
    legend(f);
    captions(f, r);
    fprintf(f, "</svg>\n");
    return fclose(f) == 0;
}
