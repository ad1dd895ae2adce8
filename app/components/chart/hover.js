// Plotly's hover texts have a hyphen as the minus sign. Here it becomes − (U+2212), as in the pictures.

const HYPHEN = /(^|[\s(])-(?=\d+[.,]\d{2})/g;  // before a number with two decimals; a hyphen inside a word stays

export function replaceHyphens(plot) {
  const layer = plot.querySelector(".hoverlayer");
  new MutationObserver(() => {
    const nodes = document.createTreeWalker(layer, NodeFilter.SHOW_TEXT);
    while (nodes.nextNode()) {
      const { currentNode: node } = nodes, text = node.data.replace(HYPHEN, "$1−");
      if (text !== node.data) node.data = text;
    }
  }).observe(layer, { childList: true, subtree: true });
}
