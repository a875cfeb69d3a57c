#!/bin/bash
EP_SIZE=64
EP_PARALLEL_SIZE=8
megatron_options=" \
    --override-opt_param-scheduler \
    --adam-beta1 0.9 \
    --tensor-model-parallel-size 1 \
    --moe-expert-parallel-size ${EP_PARALLEL_SIZE} \
    --num-experts ${EP_SIZE} \
    --mlp-type standard \
    --moe-loss-coeff 0.01 \
    --init-method-std 0.014 \
    --micro-batch-size 4 \
    --global-batch-size 256 \
    --num-layers 24 \
    --hidden-size 1024 \
    --num-attention-heads 16 \
    --seq-length 2048 \
    --max-position-embeddings 2048 \
    --vocab-file gpt2-vocab.json \
    --merge-file gpt2-merges.txt \
    --fp16 \
    --create-moe-param-group"
deepspeed_options=" \
    --deepspeed \
    --deepspeed_config ds.json \
    --zero-stage 0 \
    --no-pipeline-parallel \
    --pipeline-model-parallel-size 1"
run_cmd="deepspeed --num_nodes 2 --num_gpus 8 pretrain_gpt.py ${megatron_options} ${deepspeed_options} &> log.txt"
echo ${run_cmd}
eval ${run_cmd}
