import './theme/mantine.css';
import './theme/tokens.css';
import './theme/global.css';
import { flushSync } from 'react-dom';
import { createRoot } from 'react-dom/client';
import { App } from './app/app.js';
import { hideAtFirst } from './app/first-sight.js';
import { NoBridge } from './app/no-bridge.js';
import { currentRoute } from './app/router.js';
import { findBridge } from './state/bridge.js';
import { createDesktop } from './state/desktop-context.js';

const root = document.getElementById('root');
if (root !== null) {
  const bridge = findBridge();
  // Other pages come with files of their own, and may take the focus as they come, which what is hidden cannot.
  const answered = bridge !== null && currentRoute().page === 'jobs' ? hideAtFirst(root) : undefined;
  const page = bridge === null ? <NoBridge /> : <App desktop={createDesktop(bridge, { answered })} />;
  // Drawn before this script is over: the engine keeps the compiled form of what has run by then, and so of all that draws the first page.
  flushSync(() => createRoot(root).render(page));
}
