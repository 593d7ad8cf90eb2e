"""Why a fusion is cut as it is, and how few kernels would do."""
