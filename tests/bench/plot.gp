# Rate and CPU over the number of locks.  Given: figures, svg.
# Fonts and signs that every browser has: no Symbol, which gnuplot takes for mu.
set encoding utf8
set terminal svg size 900,420 font "sans-serif,12" background "white"
set output svg
set datafile separator "\t"
set datafile missing "-"
set multiplot layout 1,2

rows(way) = "< awk -F '\t' '$1 == \"uncontended\" && $4 != \"median\" && " \
    . "$5 == \"" . way . "\"' " . figures
medians(way) = "< awk -F '\t' '$1 == \"uncontended\" && $4 == \"median\" && " \
    . "$5 == \"" . way . "\"' " . figures

set logscale x
set xrange [7:150000]
set format x "10^{%T}"
set xlabel "locks"
set grid
set style line 1 linecolor rgb "#b2182b" linewidth 2 pointtype 7 pointsize 0.7
set style line 2 linecolor rgb "#2166ac" linewidth 2 pointtype 5 pointsize 0.7
set style line 3 linecolor rgb "#d6604d" pointtype 6 pointsize 0.4
set style line 4 linecolor rgb "#4393c3" pointtype 4 pointsize 0.4

# Columns: 2 n, 6 acquired/s, 7 released/s, 8 CPU.
set yrange [0:*]
set key top left
set title "acquired per second"
set format y "%.0f"
plot rows("raw") using 2:6 with points linestyle 3 notitle, \
     rows("evzk") using 2:6 with points linestyle 4 notitle, \
     medians("raw") using 2:6 with linespoints linestyle 1 \
        title "raw C client", \
     medians("evzk") using 2:6 with linespoints linestyle 2 title "evzk"

set key top right
set title "client CPU per acquire and release, µs"
plot rows("raw") using 2:8 with points linestyle 3 notitle, \
     rows("evzk") using 2:8 with points linestyle 4 notitle, \
     medians("raw") using 2:8 with linespoints linestyle 1 \
        title "raw C client", \
     medians("evzk") using 2:8 with linespoints linestyle 2 title "evzk"
unset multiplot
