"""What a trained model computes: traces, the logit lens, masks of a batch, word alignment, the doctor, inspection."""
