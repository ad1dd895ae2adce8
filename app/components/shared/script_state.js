// Whether Streamlit's script runs: the page is being drawn, or another page is being opened.

export const RUNNING = '[data-test-script-state]:not([data-test-script-state="notRunning"])';

export const isRunning = () => document.querySelector(RUNNING) !== null;
