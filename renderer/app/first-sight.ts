/** A controller that takes longer is waited for with the page in sight. */
const hiddenForMs = 100;

/**
 * Keeps the page out of sight until the function it returns is called. The controller's first answers are there a moment after the page's
 * script: what is styled, laid out and painted is then what they make of the page, and not first the page without them.
 */
export function hideAtFirst(root: Pick<HTMLElement, 'hidden'>): () => void {
  const show = () => {
    root.hidden = false;
  };
  root.hidden = true;
  setTimeout(show, hiddenForMs);
  // A command of the start may lead to another page, which takes the focus as it comes. Heard before the page itself hears of it.
  addEventListener('hashchange', show, { once: true });
  return show;
}
