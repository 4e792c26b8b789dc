# What a two-phase commit costs, over the number of sites.  Given: figures, svg.
set encoding utf8
set terminal svg size 900,420 font "sans-serif,12" background "white"
set output svg
set datafile separator "\t"
set multiplot layout 1,2

rows(way, variant) = "< awk -F '\t' '$2 == \"" . way . "\" && $3 == \"" \
    . variant . "\"' " . figures

set logscale xy
set xrange [1.8:140]
set xtics (2, 4, 8, 16, 32, 64, 128)
set xlabel "sites"
set grid
set style line 1 linecolor rgb "#b2182b" linewidth 2 pointtype 7 pointsize 0.7
set style line 2 linecolor rgb "#2166ac" linewidth 2 pointtype 5 pointsize 0.7
set style line 3 linecolor rgb "#d6604d" dashtype 2 pointtype 6 pointsize 0.5
set style line 4 linecolor rgb "#4393c3" dashtype 2 pointtype 4 pointsize 0.5
set style line 5 linecolor rgb "#999999" dashtype 3

# Columns: 1 sites, 4 requests, 5 events, 6 ms.
set key top left samplen 2
set yrange [20:2000000]
set title "messages of a transaction"
set format y "%.0f"
plot rows("apart", "plain") using 1:($4 + $5) with linespoints linestyle 1 \
        title "plain, votes apart", \
     rows("at-once", "plain") using 1:($4 + $5) with linespoints linestyle 3 \
        title "plain, votes at once", \
     rows("apart", "mediated") using 1:($4 + $5) with linespoints linestyle 2 \
        title "mediated, votes apart", \
     rows("at-once", "mediated") using 1:($4 + $5) with linespoints \
        linestyle 4 title "mediated, votes at once", \
     1.7 * x ** 2 with lines linestyle 5 title "1.7 n²", \
     19 * x with lines linestyle 5 title "19 n"

set yrange [1:10000]
set title "ms until all sites know the decision, votes at once"
plot rows("at-once", "plain") using 1:6 with linespoints linestyle 1 \
        title "plain", \
     rows("at-once", "mediated") using 1:6 with linespoints linestyle 2 \
        title "mediated"
unset multiplot
