#!/bin/bash
# A full fine-tuning by ms-swift; its own launcher reads the two variables.
nproc_per_node=4
NNODES=2 \
NODE_RANK=0 \
MASTER_ADDR=node0 \
NPROC_PER_NODE=$nproc_per_node \
swift sft \
    --model meta-llama/Llama-3.1-8B-Instruct \
    --model_type llama3_1 \
    --tuner_type full \
    --task_type causal_lm \
    --dataset 'own/instructions#20000' \
    --load_from_cache_file true \
    --split_dataset_ratio 0.01 \
    --torch_dtype bfloat16 \
    --num_train_epochs 1 \
    --per_device_train_batch_size 1 \
    --per_device_eval_batch_size 1 \
    --learning_rate 1e-5 \
    --gradient_accumulation_steps $(expr 32 / $nproc_per_node / 2) \
    --gradient_checkpointing true \
    --attn_impl flash_attn \
    --packing true \
    --eval_steps 100 \
    --save_steps 100 \
    --save_total_limit 2 \
    --logging_steps 5 \
    --max_length 8192 \
    --output_dir output \
    --system 'You are a helpful assistant.' \
    --warmup_ratio 0.05 \
    --dataloader_num_workers 4 \
    --dataset_num_proc 4 \
    --deepspeed zero2
