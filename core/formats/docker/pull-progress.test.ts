import { describe, expect, it } from 'vitest';
import { PullProgress } from './pull-progress.js';

describe('the progress of a fetch', () => {
  it('adds up layers, and knows no total before every layer has one', () => {
    const progress = new PullProgress();
    for (const item of [
      { status: 'Pulling from library/x', id: 'latest' },
      { status: 'Pulling fs layer', progressDetail: {}, id: 'a' },
      { status: 'Pulling fs layer', progressDetail: {}, id: 'b' },
      { status: 'Downloading', progressDetail: { current: 10, total: 100 }, id: 'a' },
    ])
      progress.push(item);
    expect(progress.state()).toEqual({
      layers: 2,
      layersDone: 0,
      doneBytes: 10,
      totalBytes: null,
      error: null,
    });
    for (const item of [
      { status: 'Already exists', progressDetail: {}, id: 'b' },
      { status: 'Download complete', progressDetail: {}, id: 'a' },
      { status: 'Extracting', progressDetail: { current: 5, total: 100 }, id: 'a' },
      { status: 'Pull complete', progressDetail: {}, id: 'a' },
      { status: 'Status: Downloaded newer image for x' },
    ])
      progress.push(item);
    expect(progress.state()).toEqual({
      layers: 2,
      layersDone: 2,
      doneBytes: 100,
      totalBytes: 100,
      error: null,
    });
  });

  it('keeps an error that comes inside the stream', () => {
    const progress = new PullProgress();
    progress.push({ status: 'Pulling from library/x', id: '1' });
    progress.push({ errorDetail: { message: 'manifest unknown' }, error: 'manifest unknown' });
    progress.push('no object');
    expect(progress.state().error).toBe('manifest unknown');
  });
});
