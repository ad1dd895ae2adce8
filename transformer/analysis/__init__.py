"""What a trained model computes:

trace trace_file trace_frame                      all values of a translation, as arrays, a file, a table
logit_lens rollout attribution patching           what decides a prediction
edits each_edit head_removal head_matching        what changes without a part
alignment batch_masks                             which head aligns words; masks of a batch
doctor guesses inspection                         signs of a defect, of a guess; the contents of a checkpoint
"""
