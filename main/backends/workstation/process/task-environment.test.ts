import { describe, expect, test } from 'vitest';
import { loginEnvironment } from './task-environment.js';

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
