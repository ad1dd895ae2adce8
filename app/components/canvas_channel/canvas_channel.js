// Connects a canvas (../canvas) with the server. It brings the canvas the state that the server has and the server's
// answers, and it sends the questions of the canvas. The two components find each other by the id of the message in
// `window.headlightCanvases`; the one that loads first waits for the other.

export default function ({ data, setTriggerValue }) {
  const all = (window.headlightCanvases ??= new Map());
  if (!all.has(data.message)) all.set(data.message, {});
  const line = all.get(data.message);
  line.state = data;
  line.send = (question) => setTriggerValue("asked", question);
  line.received?.(data);
  return () => { if (line.state === data) Object.assign(line, { state: null, send: null }); };
}
