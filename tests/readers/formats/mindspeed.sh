#!/bin/bash
NPUS_PER_NODE=8
NNODES=2
DISTRIBUTED_ARGS="--nproc_per_node $NPUS_PER_NODE --nnodes $NNODES --node_rank 0"
MOE_ARGS="
    --moe-grouped-gemm \
    --moe-token-dispatcher-type alltoall \
    --first-k-dense-replace 3 \
    --moe-layer-freq 1 \
    --n-shared-experts 1 \
    --num-experts 16 \
    --moe-router-topk 4 \
    --moe-ffn-hidden-size 256 \
    --moe-router-load-balancing-type none \
"
GPT_ARGS="
    --spec mindspeed_llm.tasks.models.spec.deepseek_spec layer_spec \
    --noop-layers 61,62,63 \
    --schedules-method dualpipev \
    --use-distributed-optimizer \
    --use-flash-attn \
    --use-mcore-models \
    --pipeline-model-parallel-size 4 \
    --expert-model-parallel-size 4 \
    --num-layers 64 \
    --hidden-size 512 \
    --ffn-hidden-size 1024 \
    --num-attention-heads 8 \
    --tokenizer-type PretrainedFromHF \
    --seq-length 4096 \
    --max-position-embeddings 4096 \
    --micro-batch-size 1 \
    --global-batch-size 128 \
    --untie-embeddings-and-output-weights \
    --disable-bias-linear \
    --position-embedding-type rope \
    --normalization RMSNorm \
    --use-fused-rotary-pos-emb \
    --use-fused-swiglu \
    --use-fused-rmsnorm \
    --swiglu \
    --padded-vocab-size 129280 \
    --lr 1.0e-5 \
    --bf16 \
"
torchrun $DISTRIBUTED_ARGS pretrain_gpt.py $GPT_ARGS $MOE_ARGS --save $SAVE | tee logs/train.log
