import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { launchOf } from '../../../../test/harness/backend-probe.js';
import { plainGpu, type GpuView } from '../../../../core/contract/gpus.js';
import { readNvidiaSmi } from '../../../../core/formats/nvidia-smi/read.js';
import { attemptEnvironment, loginEnvironment } from './task-environment.js';

describe('what tasks have of the environment this program was started in', () => {
  const users = {
    PATH: '/home/ann/bin:/usr/bin',
    GOOGLE_API_KEY: 'a key of Gemini',
    CHROME_BIN: '/usr/bin/chromium',
    npm_config_registry: 'https://npm.example',
    INIT_CWD: '/home/ann',
  };
  const programs = {
    ELECTRON_RUN_AS_NODE: '1',
    IRIS_DESKTOP_HOME: '/data',
    CHROME_DESKTOP: 'iris-desktop.desktop',
    CHROME_CRASHPAD_PIPE_NAME: 'x',
    APPDIR: '/tmp/.mount',
  };

  test("is the user's own, and nothing of this program", () => {
    expect(loginEnvironment({ ...users, ...programs })).toEqual(users);
  });

  test('is without what npm added where that runs it', () => {
    const npm = {
      npm_lifecycle_event: 'start',
      npm_config_registry: 'https://npm.example',
      INIT_CWD: '/home/ann/iris',
      PATH: '/home/ann/iris/node_modules/.bin:/usr/lib/node_modules/npm/node-gyp-bin:/usr/bin',
    };
    expect(loginEnvironment({ ...programs, ...npm, LANG: 'C.UTF-8' })).toEqual({
      PATH: '/usr/bin',
      LANG: 'C.UTF-8',
    });
  });
});

describe('what tasks see of the cards', () => {
  /** Their minor numbers are 1, 2, 3, 0. */
  const capture = readFileSync(
    path.resolve(
      import.meta.dirname,
      '../../../../test/fixtures/nvidia-smi/k80-x4-minor-number-not-list-order.xml',
    ),
    'utf8',
  );
  const reading = readNvidiaSmi(capture);
  const gpus: readonly GpuView[] = reading.ok
    ? reading.cards.map(({ uuid, index, name, variant }) => ({ ...plainGpu, uuid, index, name, variant }))
    : [];
  const seen = (devices: readonly string[], cards = gpus) => {
    const environment = attemptEnvironment(launchOf({ command: ['true'] }, { devices }), {}, '/w', cards);
    return [environment['CUDA_VISIBLE_DEVICES'], environment['CUDA_DEVICE_ORDER']];
  };
  const uuids = gpus.map(({ uuid }) => uuid);

  test('is those they were given, by name and never by a number', () => {
    expect(uuids).toHaveLength(4);
    expect(seen([uuids[3] ?? '', uuids[0] ?? ''])).toEqual([`${uuids[3]},${uuids[0]}`, undefined]);
    expect(seen(['MIG-1'])).toEqual(['MIG-1', undefined]);
  });

  test('is by place on the bus where a card has no name, and nothing for who was given none', () => {
    const old = gpus.map((gpu) => ({ ...gpu, uuid: `0000000${gpu.index}:00:00.0` }));
    expect(seen(['00000002:00:00.0', '00000001:00:00.0'], old)).toEqual(['2,1', 'PCI_BUS_ID']);
    expect(seen([])).toEqual(['', undefined]);
    expect(seen([], [])).toEqual([undefined, undefined]);
  });
});
