"""Megatron-LM's names, which its forks, NeMo and Megatron-Bridge share."""
