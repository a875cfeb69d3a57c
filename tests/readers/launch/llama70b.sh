#!/bin/bash
#SBATCH --nodes=64
# Ours, in the manner of public launch scripts.
GPUS_PER_NODE=8
NNODES=${SLURM_NNODES:-64}
TP=8
PP=${PP:-8}
SIZE=70b
if [ "$SIZE" = "70b" ]; then
  HIDDEN=8192; LAYERS=80; HEADS=64
elif [ "$SIZE" = "8b" ]; then
  HIDDEN=4096; LAYERS=32; HEADS=32
fi
case $SIZE in
  8b) FFN=14336 ;;
  70b|72b) FFN=$((HIDDEN * 7 / 2)) ;;
esac
LAUNCH=(
    --nproc_per_node $GPUS_PER_NODE
    --nnodes $NNODES  # don't set it here
)
MODEL="--num-layers $LAYERS --hidden-size ${HIDDEN} \
  --ffn-hidden-size $FFN --num-attention-heads $HEADS \
  --group-query-attention --num-query-groups 8 --seq-length 8192 \
  --max-position-embeddings 8192 --swiglu --untie-embeddings-and-output-weights \
  --position-embedding-type rope --tokenizer-model meta-llama/Llama-3.1-70B"
EXTRA=()
if [ "$TP" -gt 1 ]; then
  EXTRA+=("--sequence-parallel")
fi
if [ ! -f data.bin ]; then echo "no data"; exit 1; fi
torchrun "${LAUNCH[@]}" pretrain_gpt.py \
   $MODEL "${EXTRA[@]}" \
   --tensor-model-parallel-size $TP \
   --pipeline-model-parallel-size=$PP \
   --num-layers-per-virtual-pipeline-stage 5 \
   --use-distributed-optimizer \
   --micro-batch-size 1 --global-batch-size 1024 --bf16 --recompute-activations \
   --save "$1" --master-port=$(shuf -n 1 -i 1-9) 2>&1 | tee log
