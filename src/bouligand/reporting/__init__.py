"""Tables, figures and folders of results, for the paper's experiments and for the benchmarks."""
