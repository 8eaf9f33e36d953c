// @vitest-environment jsdom
import { fireEvent, screen } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { renderInWindow } from '../../../test/harness/render-window.js';
import { NewJobPage } from './new-job-page.js';

const focused = () => {
  const active = document.activeElement;
  return active?.getAttribute('aria-label') ?? active?.textContent;
};

/** As by a key: the button has the focus. */
function use(name: string): void {
  const button = screen.getByRole('button', { name });
  button.focus();
  fireEvent.click(button);
}

describe('rows of the form', () => {
  it.each([
    ['Add variable', 'Name of variable', 'Remove row'],
    ['Mount a folder', 'Folder', 'Remove folder'],
    ['Add a setup script, to run before the command', 'Setup script', 'Remove setup script'],
    ['Add a job to wait for', 'Job', 'Remove row'],
    ['Add constraint', 'Constraint', 'Remove row'],
  ])('of %j take the focus, and give it to what is next to them', (add, field, remove) => {
    renderInWindow(<NewJobPage from={null} mode={null} />);
    for (const summary of document.querySelectorAll('details')) summary.open = true;
    use(add);
    expect(focused()).toMatch(new RegExp(`^${field} 1`));
    use(add);
    expect(focused()).toMatch(new RegExp(`^${field} 2`));
    use(`${remove} 2`);
    expect(focused()).toBe(`${remove} 1`);
    use(`${remove} 1`);
    expect(focused()).toBe(add);
  });
});
