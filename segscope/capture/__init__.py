"""Run something and collect its dump: child process, toolchains, devices, workloads."""
