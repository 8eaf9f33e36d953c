import './theme/mantine.css';
import './theme/tokens.css';
import './theme/global.css';
import { flushSync } from 'react-dom';
import { createRoot } from 'react-dom/client';
import { App } from './app/app.js';
import { NoBridge } from './app/no-bridge.js';
import { findBridge } from './state/bridge.js';
import { createDesktop } from './state/desktop-context.js';

const root = document.getElementById('root');
if (root !== null) {
  const bridge = findBridge();
  const page = bridge === null ? <NoBridge /> : <App desktop={createDesktop(bridge)} />;
  // Drawn before this script is over: the engine keeps the compiled form of what has run by then, and so of all that draws the first page.
  flushSync(() => createRoot(root).render(page));
}
