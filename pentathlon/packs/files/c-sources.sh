#!/bin/sh
# Writes a C program of 40 files, the same on every system.
set -eu
command -v gcc >/dev/null || { echo "gcc is missing on this system" >&2; exit 127; }
mkdir sources
cd sources
declared= called= objects=
for file in $(seq 40); do
    {
        echo "#include <stdio.h>"
        echo "#include <stdlib.h>"
        echo "#include <string.h>"
        for function in $(seq 25); do
            echo "static double work_${file}_$function(double x, int n) {"
            echo "    double sum = $function;"
            echo "    for (int i = 1; i <= n; i++) { sum += x * i / (sum * sum + $file); x += sum; }"
            echo "    return sum;"
            echo "}"
        done
        echo "double part_$file(double x) {"
        echo "    double sum = 0;"
        for function in $(seq 25); do echo "    sum += work_${file}_$function(x, $function);"; done
        echo "    return sum;"
        echo "}"
    } >"part_$file.c"
    declared="$declared double part_$file(double);"
    called="$called + part_$file(1.5)"
    objects="$objects part_$file.o"
done
printf '#include <stdio.h>\n%s\nint main(void) { printf("%%f\\n", 0%s); return 0; }\n' \
    "$declared" "$called" >main.c
printf 'CC = gcc\nCFLAGS = -O2\nprogram: main.o%s\n\t$(CC) -o $@ $^ -lm\n' "$objects" >Makefile
