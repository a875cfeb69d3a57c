"""One accelerator, and the two links that leave it."""

from __future__ import annotations

from dataclasses import dataclass

from steptime.inputs.errors import check_count, check_number
from steptime.inputs.kinds import check_kinds


@dataclass(frozen=True, slots=True, kw_only=True)
class Accelerator:
    """One GPU or TPU, with its NVLink domain and its share of the network.

    Bandwidths are of one direction, per accelerator. Rates are dense (no sparsity).

    Attributes:
        name: Key in ``data/accelerators.toml``.
        peak_flop_per_s: Data-sheet rate of 16-bit matrix products.
        peak_fp8_flop_per_s: The same in 8 bits; 0 where there is none.
        peak_fp4_flop_per_s: The same in 4 bits; 0 where there is none or nobody printed it.
        matmul_flop_per_s: Largest rate measured on 16-bit matrix products.
        matmul_fp8_flop_per_s: The same in 8 bits; 0 where unknown.
        matmul_fp4_flop_per_s: The same in 4 bits; 0 where unknown.
        hbm_bytes: Memory that the device itself reports, where that is known.
        hbm_sold_bytes: Memory as its data sheet prints it; 0 if not given.
        hbm_bytes_per_s: Its bandwidth.
        nvlink_bytes_per_s: Bandwidth inside the NVLink domain.
        nvlink_domain: Accelerators in one NVLink domain: 8 in a server, 72 in an NVL72 rack.
        node_size: Accelerators in one server, 4 in one of an NVL72 rack; as many as in the
            domain where 0.
        network_bytes_per_s: Bandwidth between domains.
        network_stated: Whether who asks stated that bandwidth; else it is its row's.
        inferred: Whether nobody measured its products: their rate is inferred from the data sheet.
        num_sms: Streaming multiprocessors, for wave quantisation.
        watt: Board power.
        product_scale: Rate of its products over the one measured, where that was another part's.
        caution: Why an answer for it is not to be trusted; empty where it may be.
        generation: A key of ``data/generations.toml``, or another word where there is none.
        rates_in: Precision of the products that its rates are of, where those are not 16-bit.
        source: Key in ``references.bib`` and place in it.
    """

    name: str
    peak_flop_per_s: float
    hbm_bytes: float
    hbm_bytes_per_s: float
    nvlink_bytes_per_s: float
    network_bytes_per_s: float
    network_stated: bool = False
    nvlink_domain: int = 8
    node_size: int = 0
    peak_fp8_flop_per_s: float = 0.0
    peak_fp4_flop_per_s: float = 0.0
    matmul_flop_per_s: float = 0.0
    matmul_fp8_flop_per_s: float = 0.0
    matmul_fp4_flop_per_s: float = 0.0
    inferred: bool = False
    num_sms: int = 0
    hbm_sold_bytes: float = 0.0
    watt: float = 0.0
    product_scale: float = 1.0
    caution: str = ""
    generation: str = ""
    rates_in: str = ""
    source: str = ""

    def __post_init__(self) -> None:
        check_kinds(self)
        for field in (
            "peak_flop_per_s",
            "hbm_bytes",
            "hbm_bytes_per_s",
            "nvlink_bytes_per_s",
            "network_bytes_per_s",
        ):
            check_number(field, getattr(self, field))
        for field in (
            "peak_fp8_flop_per_s",
            "peak_fp4_flop_per_s",
            "matmul_flop_per_s",
            "matmul_fp8_flop_per_s",
            "matmul_fp4_flop_per_s",
            "hbm_sold_bytes",
            "watt",
        ):
            check_number(field, getattr(self, field), above=-1e-300)
        check_number("product_scale", self.product_scale)
        check_count("nvlink_domain", self.nvlink_domain)
        check_count("node_size", self.node_size, least=0)
        check_count("num_sms", self.num_sms, least=0)
