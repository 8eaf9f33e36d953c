/** An empty virtual list: as many rows as the real one (the address names the number), of its height and with its reserve, each a line of text. */
import { useVirtualizer } from '@tanstack/react-virtual';
import { createElement, useRef } from 'react';
import { createRoot } from 'react-dom/client';

const rows = Number(window.location.hash.slice(1));
const rowHeight = 30;
const reserve = 8;

function EmptyList() {
  const scroller = useRef<HTMLDivElement>(null);
  const virtualizer = useVirtualizer({
    count: rows,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: reserve,
  });
  const items = virtualizer.getVirtualItems().map(({ index, start, key }) =>
    createElement(
      'div',
      {
        key,
        className: 'row',
        style: { position: 'absolute', top: start, height: rowHeight, width: '100%' },
      },
      `Row ${index}`,
    ),
  );
  return createElement(
    'div',
    {
      id: 'scroller',
      ref: scroller,
      style: { height: '100vh', overflowY: 'scroll', overflowAnchor: 'none' },
    },
    createElement('div', { style: { position: 'relative', height: virtualizer.getTotalSize() } }, items),
  );
}

const place = document.getElementById('root');
if (place === null) throw new Error('The page has no root.');
createRoot(place).render(createElement(EmptyList));
