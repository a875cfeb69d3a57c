#!/bin/bash
# A full fine-tuning by ms-swift on Megatron-LM; its own launcher reads the two variables.
export CUDA_DEVICE_MAX_CONNECTIONS=1
NPROC_PER_NODE=8 \
NNODES=2 \
NODE_RANK=0 \
MASTER_ADDR=node0 \
megatron sft \
    --model meta-llama/Llama-3.1-8B \
    --model_type llama3 \
    --tuner_type full \
    --task_type causal_lm \
    --dataset 'own/instructions#20000' \
    --load_from_cache_file true \
    --split_dataset_ratio 0.01 \
    --padding_free true \
    --packing true \
    --max_length 8192 \
    --tensor_model_parallel_size 2 \
    --pipeline_model_parallel_size 2 \
    --context_parallel_size 1 \
    --sequence_parallel true \
    --micro_batch_size 1 \
    --global_batch_size 64 \
    --recompute_granularity full \
    --recompute_method uniform \
    --recompute_num_layers 1 \
    --cross_entropy_loss_fusion true \
    --overlap_grad_reduce true \
    --overlap_param_gather true \
    --attention_backend flash \
    --finetune true \
    --freeze_vit false \
    --lr 1e-5 \
    --lr_warmup_fraction 0.05 \
    --min_lr 1e-6 \
    --num_train_epochs 1 \
    --output_dir runs/swift \
    --save_safetensors true \
    --save_steps 200 \
    --eval_steps 200 \
    --dataloader_num_workers 4 \
    --dataset_num_proc 4 \
    --no_save_optim true \
    --no_save_rng true \
    --model_author own \
    --model_name own-8b
