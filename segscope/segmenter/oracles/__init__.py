"""Where answers come from: a log, rules, or nvFuser itself."""
