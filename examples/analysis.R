# Reads a result of Pentathlon in R and compares two systems, boot by boot.
#
#   Rscript examples/analysis.R TABLES SYSTEM REFERENCE
#
# TABLES is what `Result.write` made in Python:
#
#   python -c 'import pentathlon; pentathlon.Result("results/STUDY").write("tables", form="csv")'
#
# With form="parquet" it is read by the package nanoparquet or arrow, where one is installed; neither is
# packaged by Debian. CSV needs nothing beyond R (Debian: r-base-core).
#
# Prints one line for each metric: key, paired blocks, the difference of the speeds in percent (+ is
# faster than the reference), and its interval by Student's t for this row alone, at the confidence that
# the comparison states for it.

words <- commandArgs(trailingOnly = TRUE)
if (length(words) != 3) stop("usage: Rscript analysis.R TABLES SYSTEM REFERENCE")
tables <- words[1]; system <- words[2]; reference <- words[3]

read <- function(name) {
  parquet <- file.path(tables, paste0(name, ".parquet"))
  if (file.exists(parquet)) {
    if (requireNamespace("nanoparquet", quietly = TRUE))
      return(as.data.frame(nanoparquet::read_parquet(parquet)))
    if (requireNamespace("arrow", quietly = TRUE))
      return(as.data.frame(arrow::read_parquet(parquet)))
  }
  csv <- file.path(tables, paste0(name, ".csv"))
  if (!file.exists(csv))
    stop(tables, " has no ", name, ".csv, and no package here reads Parquet (nanoparquet, arrow)")
  read.csv(csv, stringsAsFactors = FALSE)
}

boots <- read("boots")
comparison <- read("comparison")
for (one in c(system, reference))
  if (!one %in% boots$system) stop(one, " is no system of ", tables)

pairs <- merge(boots[boots$system == system, ], boots[boots$system == reference, ],
               by = c("key", "block"), suffixes = c("", ".reference"))
ratio <- pairs$value / pairs$value.reference
pairs$speed <- log(ifelse(pairs$direction == "lower" & pairs$role != "context", 1 / ratio, ratio))

cat("key\tblocks\tspeed_percent\tlow_percent\thigh_percent\n")
for (key in unique(pairs$key)) {
  x <- pairs$speed[pairs$key == key]
  if (length(x) < 2 || !all(is.finite(x)) || var(x) == 0) next
  row <- comparison$key == key & comparison$system == system & comparison$reference == reference
  level <- comparison$nominal_confidence[row]
  if (length(level) != 1 || is.na(level)) next
  found <- t.test(x, conf.level = level)
  percent <- (exp(c(found$estimate, found$conf.int)) - 1) * 100
  cat(key, length(x), sprintf("%.9g", percent), sep = "\t", fill = FALSE)
  cat("\n")
}
