"""The numbers: attention, the compact Transformer, its trace and its measures. No pictures here.

Reading order, from the formula to the logits: attention, masks, positions, config, transformer.
Then what is seen while it runs: edits, recorder, trace, language_model, zoo.
"""
