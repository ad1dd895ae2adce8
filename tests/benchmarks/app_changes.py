"""Sees in the page when what it shows has changed for the last time, of all there is and of what is in the window."""

# Begins to watch the page; the time begins when the key or the mouse button goes down. A part of the page has changed
# when it shows something else: Streamlit marks what it draws again, and components may draw the same picture again.
BEGIN = """() => {
    const app = document.querySelector('[data-testid="stApp"]'), ELEMENT = '[data-testid="stElementContainer"]';
    const mine = window.headlight = {begin: performance.now(), last: 0, lastSeen: 0, ran: false};
    const below = new Set();  // what a visitor would have to scroll to
    mine.places = new IntersectionObserver((places) => places.forEach(({target, isIntersecting}) => {
        if (isIntersecting) below.delete(target); else below.add(target);
    }));
    const everything = {subtree: true, childList: true, attributes: true, characterData: true};
    const shadows = (node) => [...node.querySelectorAll('*')].flatMap(({shadowRoot}) => shadowRoot ?? []);
    const content = (element) => element.innerHTML.replace(/ (class|style|data-[a-z-]+)="[^"]*"/g, '')
        + shadows(element).map(({innerHTML}) => innerHTML).join('');
    const shown = new Map();  // what each part shows
    const watch = (element) => {
        mine.places.observe(element);
        for (const root of shadows(element)) mine.seen.observe(root, everything);
    };
    const around = (node) => {  // the part of the page that a node is in, from outside of its shadow root
        const element = node.closest ? node : node.parentElement ?? node.host;
        return element && (element.closest(ELEMENT) ?? around(element.getRootNode().host ?? {}));
    };
    mine.seen = new MutationObserver((changes) => {
        const now = performance.now(), added = changes.flatMap(({addedNodes}) => [...addedNodes]);
        const inside = added.flatMap((node) => node.querySelectorAll ? [...node.querySelectorAll(ELEMENT)] : []);
        const touched = [...changes.map(({target}) => target), ...added].map(around);
        for (const element of new Set([...touched, ...inside])) {
            if (!element?.isConnected) continue;
            if (!shown.has(element)) watch(element);
            const found = content(element);
            if (shown.get(element) === found) continue;
            shown.set(element, found);
            mine.last = now;
            if (!below.has(element)) mine.lastSeen = now;
        }
        mine.ran ||= app.dataset.testScriptState === 'running';
    });
    for (const element of document.querySelectorAll(ELEMENT)) {
        watch(element);
        shown.set(element, content(element));
    }
    mine.seen.observe(document.body, everything);
    const down = () => { mine.begin = performance.now(); };
    for (const kind of ['pointerdown', 'keydown']) window.addEventListener(kind, down, {capture: true, once: true});
}"""

# Resolves when the script has run and nothing has changed for 150 ms: with the milliseconds from the beginning to the
# last change, of all there is and of what can be seen without scrolling.
SETTLED = """() => new Promise(done => {
    const app = document.querySelector('[data-testid="stApp"]');
    const mine = window.headlight;
    const check = () => {
        const now = performance.now();
        const idle = app.dataset.testScriptState === 'notRunning' && now - mine.last > 150;
        if (idle && (mine.ran || now - mine.begin > 10_000)) {
            mine.seen.disconnect();
            mine.places.disconnect();
            requestAnimationFrame(() => done({all: mine.last - mine.begin, seen: mine.lastSeen - mine.begin}));
        } else setTimeout(check, 10);
    };
    check();
})"""
