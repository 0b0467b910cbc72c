"""Methods measured against each other: rivals, cases, measurements, reports, and the paper's evaluation."""
