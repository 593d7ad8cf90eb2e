"""A comparison of executors for people: tables, text, Markdown, and a picture of the kernels beside each other."""
