/** Axe over a rendered part. Colours are checked in a real browser: jsdom has no layout. */
import axe from 'axe-core';

export async function findViolations(container: Element): Promise<string[]> {
  const result = await axe.run(container, {
    rules: { 'color-contrast': { enabled: false }, region: { enabled: false } },
  });
  return result.violations.map(
    (violation) => `${violation.id}: ${violation.nodes.map((node) => node.html.slice(0, 200)).join(' | ')}`,
  );
}
