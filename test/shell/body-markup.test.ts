import { describe, expect, it } from 'vitest';
import { createBodies, escapeMarkup, listsMarkup } from '../../main/shell/body-markup.js';

describe('the body of a notification, for a daemon that reads mark-up', () => {
  it.each([
    ['gdbus', "(['actions', 'body', 'body-markup', 'icon-static'],)", true],
    ['busctl', 'as 3 "actions" "body" "body-markup"', true],
    ['dbus-send', '   array [\n      string "body"\n      string "body-markup"\n   ]', true],
    ['one without it', "(['actions', 'body', 'body-hyperlinks'],)", false],
  ])('%s: is told from the list of what it can do', (_tool, printed, reads) => {
    expect(listsMarkup(printed)).toBe(reads);
  });

  it('leaves nothing that could be read as a tag or an entity', () => {
    expect(escapeMarkup('No program named <b>a</b> &lt; b.')).toBe(
      'No program named &lt;b&gt;a&lt;/b&gt; &amp;lt; b.',
    );
  });

  it('asks once it is told, keeps the order, and takes no answer for mark-up', async () => {
    const answers = [null, true];
    let asked = 0;
    const body = createBodies(() => Promise.resolve(answers[asked++] ?? null));
    expect(await Promise.all([body('<a>'), body('<b>')])).toEqual(['&lt;a&gt;', '&lt;b&gt;']);
    expect([await body('<c>'), await body('<d>'), asked]).toEqual(['&lt;c&gt;', '&lt;d&gt;', 2]);
    const plain = createBodies(() => Promise.resolve(false));
    expect(await plain('a & <b>')).toBe('a & <b>');
  });
});
