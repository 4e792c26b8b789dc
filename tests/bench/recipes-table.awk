# The tables of doc/performance-recipes.md, of the files of figures:
#
#   awk -f tests/bench/recipes-table.awk bench.tsv     evzk beside raw
#   awk -f tests/bench/recipes-table.awk peers.tsv     beside Curator and Kazoo
#
# Medians; ratios are medians of each round's own, with the lowest and the
# highest.  Rounds are counted from the file.
BEGIN { FS = "\t" }
function sorted(text, v,    n, i, j, x) {
    n = split(text, v, " ")
    for (i = 2; i <= n; i++) {
        x = v[i] + 0
        for (j = i - 1; j > 0 && v[j] + 0 > x; j--)
            v[j + 1] = v[j]
        v[j + 1] = x
    }
    return n
}
function median(text,    v, n) {
    n = sorted(text, v)
    if (n == 0)
        return "-"
    return n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2
}
function number(x, digits,    text) {
    if (x == "-")
        return x
    text = sprintf("%." (x >= 100 ? 0 : digits) "f", x)
    while (text ~ /^[0-9][0-9][0-9][0-9]/)
        sub(/[0-9][0-9][0-9](,|$)/, ",&", text)
    return text
}
function spread(text,    v, n) {
    n = sorted(text, v)
    if (n == 0)
        return "-"
    return number(median(text), 2) \
        (n > 1 ? " (" number(v[1], 2) " to " number(v[n], 2) ")" : "")
}
# One more value of a figure, of one round.
function note(row, by, round, figure, x) {
    if (x == "-" || x == "")
        return
    all[row, by, figure] = all[row, by, figure] " " x
    one[row, by, figure, round] = x
    if (round > rounds)
        rounds = round
}
function ratio(row, by, other, figure,    text, r) {
    for (r = 1; r <= rounds; r++)
        if (one[row, other, figure, r] > 0)
            text = text " " one[row, by, figure, r] / one[row, other, figure, r]
    return spread(text)
}
function add(row, by) {
    if (!((row, by) in seen))
        ways[row] = ways[row] " " by
    seen[row, by] = 1
    if (row in known)
        return
    known[row] = 1
    rows[++count] = row
}
NR == 1 {
    for (i = 1; i <= NF; i++)
        column[$i] = i
    peers = "by" in column
    next
}
$(column["round"]) !~ /^[0-9]+$/ { next }
peers {
    add($1, $3)
    note($1, $3, $2, "rate", $4)
    note($1, $3, $2, "cpu", $5)
    next
}
{
    row = $1 ", " number($2, 0)
    add(row, $5)
    note(row, $5, $4, "rate", $(column["rate_per_s"]))
    note(row, $5, $4, "second", $(column["release_per_s"]))
    note(row, $5, $4, "cpu", $(column["cpu_us"]))
    note(row, $5, $4, "requests", $(column["requests"]))
    note(row, $5, $4, "heap", $(column["heap_bytes"]))
}
function pair(row, by, other, figure, digits) {
    return number(median(all[row, by, figure]), digits) ", " \
        number(median(all[row, other, figure]), digits)
}
function print_raw(row, other) {
    print "| " row (other == "raw" ? "" : ", beside " other) " | " \
        number(median(all[row, "evzk", "rate"]), 0) " | " \
        ratio(row, "evzk", other, "rate") " | " \
        ratio(row, "evzk", other, "second") " | " \
        number(median(all[row, "evzk", "cpu"]), 1) " | " \
        ratio(row, "evzk", other, "cpu") " | " \
        pair(row, "evzk", other, "requests", 2) " | " \
        pair(row, "evzk", other, "heap", 0) " |"
}
function print_peers(row,    who) {
    who = "| " row
    who = who " | " number(median(all[row, "evzk", "rate"]), 0)
    who = who " | " number(median(all[row, "curator", "rate"]), 0)
    who = who " | " number(median(all[row, "kazoo", "rate"]), 0)
    who = who " | " ratio(row, "evzk", "curator", "rate")
    who = who " | " ratio(row, "evzk", "kazoo", "rate")
    who = who " | " number(median(all[row, "evzk", "cpu"]), 1) ", " \
        number(median(all[row, "curator", "cpu"]), 1) ", " \
        number(median(all[row, "kazoo", "cpu"]), 1)
    print who " |"
}
END {
    print "Rounds: " rounds "."
    print ""
    if (peers) {
        print "| work | evzk /s | Curator /s | Kazoo /s | evzk to Curator " \
            "| to Kazoo | CPU, µs: evzk, Curator, Kazoo |"
        print "| --- | --- | --- | --- | --- | --- | --- |"
    } else {
        print "| workload | rate /s | of raw | second rate, of raw " \
            "| CPU, µs | of raw | requests, raw's | bytes each, raw's |"
        print "| --- | --- | --- | --- | --- | --- | --- | --- |"
    }
    for (i = 1; i <= count; i++) {
        if (peers) {
            print_peers(rows[i])
            continue
        }
        n = split(ways[rows[i]], other, " ")
        for (k = 1; k <= n; k++)
            if (other[k] != "evzk")
                print_raw(rows[i], other[k])
    }
}
