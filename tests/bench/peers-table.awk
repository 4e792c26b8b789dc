# The table that peers prints, of its figures: work, round, who, per second, CPU.
# Medians and spread; the ratios are of figures of the same round.
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
function median(v, n) {
    return n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2
}
function spread(text, format,    v, n) {
    n = sorted(text, v)
    return sprintf(format "  " format ".." format, median(v, n),
                   v[1], v[n])
}
$2 == "warm" { next }
{
    key = $1 FS $3
    if (!(key in rate))
        keys[++count] = key
    rate[key] = rate[key] " " $4
    cpu[key] = cpu[key] " " $5
    if ($3 == "evzk")
        ours[$1, $2] = $4
    row[NR] = $0
}
END {
    for (i = 1; i <= NR; i++) {
        if (!(i in row))
            continue
        split(row[i], f, FS)
        key = f[1] FS f[3]
        ratio[key] = ratio[key] " " ours[f[1], f[2]] / f[4]
    }
    printf "%-34s %-8s %-26s %9s  %s\n", "work", "by",
        "per second: median, spread", "CPU us", "evzk to it"
    for (i = 1; i <= count; i++) {
        key = keys[i]
        split(key, f, FS)
        n = sorted(cpu[key], v)
        printf "%-34s %-8s %-26s %9s  %s\n", f[1], f[2],
            spread(rate[key], "%.0f"),
            cpu[key] ~ /-/ ? "" : sprintf("%.1f", median(v, n)),
            f[2] == "evzk" ? "" : spread(ratio[key], "%.2f")
    }
}
