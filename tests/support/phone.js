// What is wrong with a page on a phone, as {cut, small}: what ends beyond the screen or its own box without a fading
// edge, and what is smaller than a finger needs (but for the stations of Step by step on its map, which
// buttons reach too).
([least, place]) => {
    const main = document.querySelector(place), cut = [], small = [];
    const above = node => node.assignedSlot ?? node.parentElement ?? node.getRootNode().host ?? null;
    const all = root => [...root.querySelectorAll('*')].flatMap(node => [node, ...(node.shadowRoot ? all(node.shadowRoot) : [])]);
    const chain = node => { const found = []; for (; node && node !== main; node = above(node)) found.push(node); return found; };
    const named = node => `${node.tagName.toLowerCase()}.${node.getAttribute('class')} "${node.textContent.trim().slice(0, 40)}"`
        + ` in ${chain(node).map(one => /st-key-[\w-]+/.exec(one.getAttribute('class') ?? '')?.[0]).find(Boolean)}`;
    const fades = node => chain(node).some(one => {
        const style = getComputedStyle(one);
        return style.overflowX !== 'visible' && style.maskImage !== 'none';
    });
    const isSeen = node => node.checkVisibility({checkOpacity: true, checkVisibilityCSS: true})
        && !chain(node).some(one => getComputedStyle(one).clipPath !== 'none') && !node.closest('.katex-mathml, [aria-hidden=true], defs');
    for (const node of all(main)) {
        const box = node.getBoundingClientRect(), says = [...node.childNodes].some(child => child.nodeType === Node.TEXT_NODE && child.data.trim());
        const acts = node.matches('button, a[href], input, select, summary, [role=button], [role=radio], [role=switch], [role=tab]');
        if (!(says || acts) || ['STYLE', 'SCRIPT', 'title', 'desc'].includes(node.tagName) || !box.width || !box.height || !isSeen(node)) continue;
        if ((box.right > innerWidth + 1 || box.left < -1) && !fades(node)) cut.push(`${Math.round(box.right)} px: ${named(node)}`);
        const style = getComputedStyle(node), frame = node.ownerSVGElement?.getBoundingClientRect();
        const hides = !frame && style.overflowX !== 'visible' && !/auto|scroll/.test(style.overflowX);
        if (says && hides && node.scrollWidth > node.clientWidth + 1) cut.push(`${node.clientWidth} of ${node.scrollWidth} px: ${named(node)}`);
        if (frame && getComputedStyle(node.ownerSVGElement).overflow !== 'visible' && (box.right > frame.right + 1 || box.left < frame.left - 1)) cut.push(`beyond its picture: ${named(node)}`);
        const target = (node.closest('label, [data-testid=stSelectbox], [data-testid=stTextInput]') ?? node).getBoundingClientRect();
        if (acts && !node.disabled && !node.closest('svg.map') && Math.min(target.width, target.height) < least - 0.5) small.push(`${Math.round(target.width)}x${Math.round(target.height)}: ${named(node)}`);
    }
    return {cut, small};
}
