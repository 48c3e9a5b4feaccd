"""Work that outgrows one process: workers of Dask, and the merge of what several runs found."""
