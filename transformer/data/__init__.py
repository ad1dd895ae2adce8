"""Corpora: reading, cleaning, toy tasks, preparation on disk, batches by tokens. In the order in which to read:

    data_options mix_options                          what a recipe can ask for
    text_files corpus hugging_face parts              files -> pairs of sentences
    skipped_lines cleaning                            which lines and pairs are left out
    train_valid_overlap kept_aside                    which pairs are not for training
    text_preparation prepared_text prepared_store     pairs -> a prepared corpus on disk
    augmentation encoding encoded_pairs               pairs -> ids, again in each epoch if they are changed at random
    pair_sources batches batch_parts epochs           ids -> batches
    training_data                                     all of it: from [data] of a recipe to a stream of batches

Beside these: toy_tasks and monolingual (other sources of pairs), corpus_facts, language_names and text_warnings (what a
text is like), source_words (for correcting spelling), mapped_arrays and parallel_map (large text).
"""
