#!/bin/bash
accelerate launch --config_file accelerate-fsdp1.yaml train.py \
    --model_name_or_path meta-llama/Llama-3.1-8B \
    --per_device_train_batch_size 2 \
    --gradient_accumulation_steps 4 \
    --max_seq_length 4096 \
    --gradient_checkpointing true \
    --learning_rate 2e-5
