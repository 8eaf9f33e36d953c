/** An empty page made by React: one element, which answers a click. */
import { createElement, useState } from 'react';
import { createRoot } from 'react-dom/client';

function EmptyPage() {
  const [clicks, setClicks] = useState(0);
  return createElement('button', { id: 'ready', onClick: () => setClicks(clicks + 1) }, clicks);
}

const place = document.getElementById('root');
if (place === null) throw new Error('The page has no root.');
createRoot(place).render(createElement(EmptyPage));
