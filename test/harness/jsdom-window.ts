/** What the window's parts ask of a browser and jsdom does not have: media queries, sizes, observers, scrolling. */
const viewHeight = 600;

class NoResize implements ResizeObserver {
  observe(): void {
    // Sizes never change in jsdom.
  }
  unobserve(): void {
    // As above.
  }
  disconnect(): void {
    // As above.
  }
}

Object.defineProperty(window, 'matchMedia', {
  configurable: true,
  value: (query: string) => ({
    matches: false,
    media: query,
    onchange: null,
    addEventListener: () => undefined,
    removeEventListener: () => undefined,
    addListener: () => undefined,
    removeListener: () => undefined,
    dispatchEvent: () => false,
  }),
});
Object.defineProperty(window, 'ResizeObserver', { configurable: true, value: NoResize });
Object.defineProperty(HTMLElement.prototype, 'offsetHeight', { configurable: true, get: () => viewHeight });
Object.defineProperty(HTMLElement.prototype, 'offsetWidth', { configurable: true, get: () => 1000 });
Object.defineProperty(HTMLElement.prototype, 'clientHeight', { configurable: true, get: () => viewHeight });
Object.defineProperty(Element.prototype, 'scrollIntoView', { configurable: true, value: () => undefined });
Object.defineProperty(Element.prototype, 'scrollTo', {
  configurable: true,
  value(this: Element, options: ScrollToOptions) {
    this.scrollTop = options.top ?? 0;
    // A browser tells of scrolling later, never from within the call.
    queueMicrotask(() => this.dispatchEvent(new Event('scroll')));
  },
});
if (!('fonts' in document)) {
  Object.defineProperty(document, 'fonts', {
    configurable: true,
    value: {
      addEventListener: () => undefined,
      removeEventListener: () => undefined,
      ready: Promise.resolve(),
    },
  });
}
// There is nothing to draw on; what is drawn is in words beside it.
Object.defineProperty(HTMLCanvasElement.prototype, 'getContext', { configurable: true, value: () => null });
