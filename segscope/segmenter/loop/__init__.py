"""nvFuser's merge loop (csrc/fusion_segmenter.cpp), one step a file."""
