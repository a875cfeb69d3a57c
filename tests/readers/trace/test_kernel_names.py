"""Names of kernels as cuBLAS, NCCL, Triton, FlashAttention and PyTorch write them."""

from __future__ import annotations

import tomllib

import pytest

from steptime.inputs.datafiles import data_path
from steptime.readers.trace.kernel_names import (
    carried,
    described_part,
    kernel_part,
    message_does,
    operator_part,
    parts,
)

NAMES = {
    "products": [
        "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn",
        "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x256x64_warpgroupsize2x1x1",
        "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_128x256_32x3>",
        "nvjet_hsh_256x128_64x4_1x2_h_bz_coopA_NNT",
        "void cublasLt::splitKreduce_kernel<32, 16, int, float, __nv_bfloat16>",
        "triton_tem_fused_mm_12",
        "Cijk_Ailk_Bljk_BBS_BH_Bias_HAS_SAV_UserArgs_MT256x256x64_MI16x16x1",
        # hta2026, tests/data: a convolution is a product.
        "cudnn_infer_volta_scudnn_128x64_relu_medium_nn_v1",
        "void wgrad_alg0_engine<float, 128, 5, 5, 3, 3, 3, false, 512>(int, int, int)",
    ],
    "attention": [
        "void pytorch_flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<Flash_bwd_kernel_traits>",
        "cudnn_generated_fort_native_sdpa_sm90_flash_bprop_wgmma_f16_knob_3_64x128x128_4x1x1_kernel0",
        "fmha_cutlassF_bf16_aligned_64x128_rf_sm80(PyTorchMemEffAttention::AttentionKernel)",
        # FlashAttention 3 and 4, FlexAttention, AMD's tiles.
        "void cutlass::device_kernel<flash::enable_sm90_or_later<flash::FlashAttnFwdSm90<2>>>",
        "kernel_cutlass_kernel_flash_attncuteflash_fwdFlashAttentionForwardSm100_object_at",
        "triton_tem_fused_flex_attention_backward_zeros_1",
        "void ck_tile::kentry<ck_tile::FmhaBwdDQDKDVKernel<>>",
        # Around the kernels of cuDNN: a sum before them, a cast after them.
        "void cudnn::fusion::compute_dot_do_o_specialized<true, __nv_bfloat16, 128, 1024>",
        "void cudnn::fusion::convert_dq_to_16bits<true, __nv_bfloat16>",
        "void thd_lse_kernel<double, LseCorrectionFunctor<true>>",
    ],
    "elementwise": [
        "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>",
        "triton_red_fused__to_copy_add_mean_mul_pow_rsqrt_3",
        "Memcpy DtoD (Device -> Device)",
        "Memset (Device)",
        "void transformer_engine::normalization::rmsnorm_fwd_tuned_kernel<Kernel_traits>",
        "void transformer_engine::swizzle_col_scaling_kernel<int4, 128, 4>",
        "void transformer_engine::hadamard_transform_cast_fusion_kernel<>",
        "void transformer_engine::fused_router::fused_moe_aux_loss_forward_kernel<float>",
        "_rms_norm_backward_kernel",
        "triton_red_fused_add_native_layer_norm_backward_2",
        "nvfuser_inner_outer_persistent_f0_c1_r0_g1",
        # As compilers write what an operator does: a lambda is no LAMB.
        "void at::native::vectorized_elementwise_kernel<4, at::native::(anonymous namespace)::"
        "silu_kernel(at::TensorIteratorBase&)::{lambda()#1}::operator()() const::{lambda()#6}>",
        "void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl<at::native::"
        "direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}::operator()() const>>",
        # hta2026, tests/data: the library's name has a product's in it.
        "void fbgemm_gpu::permute_2D_lengths_kernel<int>(int, int, int const*, int const*, int*)",
        "void split_embedding_codegen_forward_unweighted_kernel<float, float, float, false, long>",
        "void cudnn::bn_bw_1C11_kernel_new<float, float, float2, 128, true, 1>(float, float)",
    ],
    "optimizer": [
        "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<TensorListMetadata<4>>",
        "void multi_tensor_apply_kernel<TensorListMetadata<4>, LAMBStage1Functor<float, float>>",
        "void transformer_engine::multi_tensor_adam::adam_kernel<AdamFunctorMaster>",
    ],
    "messages": [
        "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
        "ncclKernel_ReduceScatter_RING_LL_Sum_bf16(ncclDevComm*, unsigned long, ncclWork*)",
        "void deep_ep::intranode::dispatch<8, 768>(int4*, float*, int*)",
        "void hybrid_ep::dispatch_kernel<hybrid_ep::hybrid_ep<8192>>",
        "ncclSymkDevKernel_AllReduce_AGxLL_R_sum_bf16(ncclSymkDevWorkArgs4K)",
        "void c10d::symmetric_memory::barrier_kernel(unsigned int**, int, int, int)",
        "void two_shot_all_reduce_kernel_inplace<c10::BFloat16, 16, 8>",
        "kuserbuffers_pushsend(int*, int*, int4*, int4*, int)",
    ],
    "unknown": ["my_own_thing_v3"],
}


@pytest.mark.parametrize(("part", "name"), [(p, n) for p, names in NAMES.items() for n in names])
def test_a_kernel_goes_to_its_part(part: str, name: str) -> None:
    assert kernel_part(name) == part


@pytest.mark.parametrize(
    ("name", "does"),
    [
        ("ncclDevKernel_AllReduce_Sum_bf16_RING_LL", "all_reduce"),
        ("ncclDevKernel_ReduceScatter_Sum_f32_RING_LL", "reduce_scatter"),
        ("_allgather_base", "all_gather"),
        ("_reduce_scatter_base", "reduce_scatter"),
        ("all_to_allv", "all_to_all"),
        ("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", "send_recv"),
        ("gloo:recv", "send_recv"),
        ("kuserbuffers_pushsend(int*, int*, int4*, int4*, int)", "all_gather"),
        ("ncclSymkDevKernel_ReduceScatter_LL_sum_bf16", "reduce_scatter"),
        ("void hybrid_ep::combine_kernel<>", "all_to_all"),
        ("something", ""),
    ],
)
def test_a_message_says_what_it_does(name: str, does: str) -> None:
    assert message_does(name) == does


def test_an_operator_goes_to_its_part() -> None:
    names = ("aten::mm", "aten::add", "c10d::allreduce_", "MmBackward0", "mine::thing")
    assert [operator_part(name) for name in names] == [
        *("products", "elementwise", "wait", "host", "unknown")
    ]


def test_every_rule_names_a_part_and_a_source() -> None:
    table = tomllib.loads(data_path("kernels.toml").read_text(encoding="utf-8"))
    known = {*parts(), "wait"}
    for kind in ("kernel", "operator", "group"):
        assert all(rule["part"] in known and rule["source"] for rule in table[kind])
    for rule in table["message"]:
        assert set(carried(rule["does"])) <= set(parts())
        assert carried(rule["does"])


def test_a_group_by_its_description_is_whole() -> None:
    assert described_part("mesh_tp") == described_part("TENSOR_MODEL_PARALLEL_GROUP")
    assert described_part("mesh_tp_of_mine") == described_part("undefined") == ""
