// Connects a canvas (../canvas) with the server: the state that the server has, and its answers to the questions of the
// canvas. The two find each other by the id of the message in `window.headlightCanvases`; whichever loads first waits
// there.

export default function ({ data, setTriggerValue }) {
  const all = (window.headlightCanvases ??= new Map());
  if (!all.has(data.message)) all.set(data.message, {});
  const line = all.get(data.message);
  line.standing = data;
  line.send = (question) => setTriggerValue("asked", question);
  line.received?.(data);
  return () => { if (line.standing === data) Object.assign(line, { standing: null, send: null }); };
}
