"""MarianMT models of Hugging Face, hardly trained, with tokenizers of a few lines, as folders on disk."""

import io
import json
from pathlib import Path
from typing import Any

import sentencepiece
import torch

ENGLISH = (
    "The animal didn't cross the street because it was too tired.",
    "Where is the nearest train station?",
    "I have never seen such a beautiful garden.",
    "The cat sat on the mat, and the dog saw it.",
)
GERMAN = (
    "Das Tier überquerte die Straße nicht, weil es zu müde war.",
    "Wo ist der nächste Bahnhof?",
    "Ich habe noch nie einen so schönen Garten gesehen.",
    "Die Katze saß auf der Matte, und der Hund sah sie.",
)
SIZES = {"d_model": 16, "encoder_layers": 2, "decoder_layers": 1, "encoder_ffn_dim": 24, "decoder_ffn_dim": 24}


def sentencepiece_model(lines: tuple[str, ...], size: int) -> bytes:
    """As Marian's: no normalisation of our own, no bytes."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines * 4), model_writer=model, vocab_size=size, hard_vocab_limit=False, minloglevel=2
    )
    return model.getvalue()


def marian_folder(folder: Path, seed: int = 0, **changes: Any) -> Any:
    """Writes the folder and returns the model, in eval mode and float32."""
    from transformers import MarianConfig, MarianMTModel

    folder.mkdir(parents=True)
    spm = {"source": sentencepiece_model(ENGLISH, 60), "target": sentencepiece_model(GERMAN, 70)}
    tokens = ["</s>", "<unk>"]
    for name, serialized in spm.items():
        (folder / f"{name}.spm").write_bytes(serialized)
        processor = sentencepiece.SentencePieceProcessor(model_proto=serialized)
        pieces = (processor.id_to_piece(id) for id in range(3, processor.vocab_size()))
        tokens += [piece for piece in pieces if piece not in tokens]
    tokens.append("<pad>")
    (folder / "vocab.json").write_text(json.dumps({token: id for id, token in enumerate(tokens)}), encoding="utf-8")
    about = {"source_lang": "en", "target_lang": "de"}
    (folder / "tokenizer_config.json").write_text(json.dumps(about), encoding="utf-8")
    pad = len(tokens) - 1
    marian: Any = MarianConfig  # its type hints know only a part of what it takes
    options = {
        **SIZES,
        "vocab_size": len(tokens),
        "encoder_attention_heads": 2,
        "decoder_attention_heads": 2,
        "max_position_embeddings": 64,
        "activation_function": "swish",
        "scale_embedding": True,
        "pad_token_id": pad,
        "eos_token_id": 0,
        "decoder_start_token_id": pad,
        "forced_eos_token_id": None,
        **changes,
    }
    torch.manual_seed(seed)
    model: Any = MarianMTModel(marian(**options)).eval()
    with torch.no_grad():
        model.final_logits_bias.normal_()
    _train(model, folder)
    model.generation_config.num_beams = 3
    model.generation_config.length_penalty = 1.0
    model.save_pretrained(folder)
    return model


def _train(model: Any, folder: Path, updates: int = 90) -> None:
    """Models with random weights repeat one token for ever, so it learns a little of its four sentences, and to end."""
    from transformers import MarianTokenizer

    tokenizer: Any = MarianTokenizer
    tokenizer = tokenizer.from_pretrained(folder)
    batch = tokenizer(list(ENGLISH), text_target=list(GERMAN), return_tensors="pt", padding=True)
    labels = batch["labels"].masked_fill(batch["labels"] == tokenizer.pad_token_id, -100)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for _ in range(updates):
        loss = model(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"], labels=labels).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
