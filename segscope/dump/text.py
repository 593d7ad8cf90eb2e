"""Tensors and iter domains back to the text that nvFuser printed."""

from segscope.model import IterDomain, Tensor


def tensor_text(tensor: Tensor, *, dtype_in_name: bool, inner_blanks: bool, zero: bool = False) -> str:
    """Return a tensor as every mention prints it.

    ``dtype_in_name``: ``T0_g_float[...]``, as since 3 September 2024. ``inner_blanks``: ``[ iS0{2} ]``, as until
    29 November 2024. ``zero``: a tensor without dimensions is ``T0_g[ 0 ]``, as until 16 October 2023.
    """
    dtype = f"_{tensor.dtype}" if dtype_in_name else ""
    domain = ", ".join(map(iter_domain_text, tensor.domain)) or ("0" if zero else "")
    if inner_blanks:
        domain = f" {domain} " if domain else " "
    return f"{tensor.name}_{tensor.memory}{dtype}[{domain}]{_suffixes(tensor)}"


def iter_domain_text(dim: IterDomain) -> str:
    """Return an iter domain as nvFuser prints it, such as ``bS90{1 ex 2}``."""
    name = f"{dim.iter_type}{dim.parallel_type}{dim.number}"
    if dim.ragged:
        return f"{name}Ragged{{extents={dim.extent}}}"
    inside = " : ".join(bound for bound in (dim.start, dim.stop, dim.extent) if bound is not None)
    if dim.expanded_extent is not None:
        inside += f" ex {dim.expanded_extent}"
    return f"{name}{{{inside}}}{'rf' * dim.rfactor}{'_p' * dim.padded}{'_c' * dim.clustered}"


def _suffixes(tensor: Tensor) -> str:
    text = ""
    if tensor.ca_pos:
        text += f" ca_pos( {tensor.ca_pos} )"
    if tensor.compute_with:
        text += f" compute_with( {', '.join((*tensor.compute_with_consumers, str(tensor.compute_with)))} )"
    if tensor.produce_pos:
        text += f" produce_pos( {tensor.produce_pos} )"
    if tensor.maybe_produce_pos:
        text += f" maybe_produce_pos( {tensor.maybe_produce_pos} )"
    return text if tensor.mesh is None else f"{text} (DeviceMesh{tensor.mesh})"
