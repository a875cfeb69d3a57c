#!/bin/bash
torchrun --nproc_per_node=8 --nnodes=1 train.py \
    --model_name_or_path meta-llama/Llama-2-7b-hf \
    --data_path data.json \
    --bf16 True \
    --output_dir out \
    --num_train_epochs 3 \
    --per_device_train_batch_size 4 \
    --gradient_accumulation_steps 4 \
    --evaluation_strategy no \
    --learning_rate 2e-5 \
    --model_max_length 4096 \
    --gradient_checkpointing True \
    --deepspeed zero2.json
