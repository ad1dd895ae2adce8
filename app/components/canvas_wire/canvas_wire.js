// The wire of a canvas (../canvas): what stands on the server, and answers to what the canvas asks. Both find each other in
// `window.headlightCanvases` by the message that is drawn; whichever arrives first waits there.

export default function ({ data, setTriggerValue }) {
  const all = (window.headlightCanvases ??= new Map());
  if (!all.has(data.message)) all.set(data.message, {});
  const line = all.get(data.message);
  line.standing = data;
  line.send = (question) => setTriggerValue("asked", question);
  line.heard?.(data);
  return () => { if (line.standing === data) Object.assign(line, { standing: null, send: null }); };
}
