import './theme/mantine.css';
import './theme/tokens.css';
import './theme/global.css';
import { createRoot } from 'react-dom/client';
import { App } from './app/app.js';
import { NoBridge } from './app/no-bridge.js';
import { findBridge } from './state/bridge.js';
import { createDesktop } from './state/desktop-context.js';

const root = document.getElementById('root');
if (root !== null) {
  const bridge = findBridge();
  createRoot(root).render(bridge === null ? <NoBridge /> : <App desktop={createDesktop(bridge)} />);
}
