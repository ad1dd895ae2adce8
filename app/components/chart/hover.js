// Plotly writes a hyphen before the negative numbers of a hover text; a reader sees the minus that the pictures have.

const HYPHEN = /(^|[\s(])-(?=\d+[.,]\d{2})/g;  // a number with decimals; what is part of a word stays

export function withMinus(plot) {
  const layer = plot.querySelector(".hoverlayer");
  new MutationObserver(() => {
    const nodes = document.createTreeWalker(layer, NodeFilter.SHOW_TEXT);
    while (nodes.nextNode()) {
      const { currentNode: node } = nodes, text = node.data.replace(HYPHEN, "$1−");
      if (text !== node.data) node.data = text;
    }
  }).observe(layer, { childList: true, subtree: true });
}
