"""A model card that tries every way to make the browser fetch something from an address."""

WAYS = r"""
# A card

![inline](ADDRESS/inline) !![after an exclamation mark](ADDRESS/two) !!![after two](ADDRESS/three)
\![escaped](ADDRESS/escaped) \\![escaped twice](ADDRESS/escaped-twice) !\[bracket](ADDRESS/bracket)
![in angle brackets](<ADDRESS/angle> "title") ![nested ![image](ADDRESS/inner)](ADDRESS/outer)

![by reference][ref] !![ref][] !![ref] ![ref]

[ref]: ADDRESS/reference

[![in a link](ADDRESS/in-link)](ADDRESS/link) [!![in a link](ADDRESS/in-link-two)][ref]

| a table | ![x](ADDRESS/head) |
| --- | --- |
| **Data** | ![cell](ADDRESS/cell) !![cell](ADDRESS/cell-two) |
| Licence | CC BY ![licence](ADDRESS/licence) !![ref] |

> ![quote](ADDRESS/quote)

1. ![list](ADDRESS/list)
   * !![list](ADDRESS/list-two)

A note[^1]. :red[![coloured](ADDRESS/coloured)] :blue-background[!![x](ADDRESS/background)]
~~![struck](ADDRESS/struck)~~

[^1]: ![note](ADDRESS/note)

&#33;[reference](ADDRESS/entity) !&#91;reference](ADDRESS/entity-two) &excl;[x](ADDRESS/entity-three)

<img src="ADDRESS/img"> <picture><source srcset="ADDRESS/source"><img></picture> <video poster="ADDRESS/poster"></video>
<iframe src="ADDRESS/frame"></iframe> <link rel="stylesheet" href="ADDRESS/style">
<object data="ADDRESS/object"></object>

<style>@import "ADDRESS/import"; body { background: url(ADDRESS/background) }</style>

<svg><image href="ADDRESS/svg"/></svg>

ADDRESS/autolinked.png <ADDRESS/autolinked-too.png> www.example.org

![data](data:image/svg+xml,%3Csvg%20xmlns='http://www.w3.org/2000/svg'%3E%3Cimage%20href='ADDRESS/data'/%3E%3C/svg%3E)

$\includegraphics{ADDRESS/math}$ $\href{ADDRESS/href}{x}$ :material/home: `![code](ADDRESS/code)`

$$\includegraphics[height=1em]{ADDRESS/display}$$

```
![block](ADDRESS/block)
```

![over two
lines](ADDRESS/lines) ![ADDRESS/text](
ADDRESS/next-line)
"""


def hostile_card(address: str) -> str:
    """The card, with this address in place of the attacker's. After its text come characters that are hard to see."""
    hidden = "\n\n".join(f"!{character}[hidden](ADDRESS/hidden)" for character in "\0\u200b\ufeff\u00ad\t\r")
    return f"{WAYS}\n\n{hidden}\n\ntext after all of it\n".replace("ADDRESS", address)
