/** The settings of docs' security list, read from the running application and tried from its page. */
import { readFileSync } from 'node:fs';
import type { Page } from '@playwright/test';
import { expect, inMain, test } from '../harness/electron.js';

const address = 'iris://app/';

test('the page has no Node, an isolated world and a sandbox', async ({ desktop }) => {
  const preferences = await inMain(desktop.app, ({ BrowserWindow }) => {
    const contents = BrowserWindow.getAllWindows()[0]?.webContents as unknown as {
      getLastWebPreferences(): Record<string, unknown>;
    };
    return contents.getLastWebPreferences();
  });
  expect(preferences).toMatchObject({
    contextIsolation: true,
    sandbox: true,
    nodeIntegration: false,
    nodeIntegrationInSubFrames: false,
    webSecurity: true,
    allowRunningInsecureContent: false,
    experimentalFeatures: false,
    webviewTag: false,
  });
  expect(preferences['nodeIntegrationInWorker'] ?? false).toBe(false);
  expect(preferences['enableBlinkFeatures'] ?? '').toBe('');
  const seen = await desktop.page.evaluate(() => {
    const world = window as unknown as Record<string, unknown>;
    return ['require', 'process', 'module', 'Buffer', 'global', 'ipcRenderer', 'electron'].filter(
      (name) => world[name] !== undefined,
    );
  });
  expect(seen).toEqual([]);
});

test('the renderer runs in the kernel’s sandbox', async ({ desktop }) => {
  const pid = await inMain(
    desktop.app,
    ({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.webContents.getOSProcessId() ?? 0,
  );
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  if (process.getuid?.() === 0) {
    // Chromium refuses its sandbox to root; then the application must have said so.
    expect(desktop.log()).toContain('runs without Chromium’s sandbox');
    return;
  }
  expect(status).toMatch(/^Seccomp:\s+2$/m);
  expect(status).toMatch(/^NoNewPrivs:\s+1$/m);
  expect(desktop.log()).not.toContain('without Chromium’s sandbox');
});

test('the bridge is one frozen object of the contract’s methods', async ({ desktop }) => {
  const bridge = await desktop.page.evaluate(() => {
    const found = (window as unknown as { irisDesktop: Record<string, unknown> }).irisDesktop;
    const before = found['connect'];
    const replaced = Reflect.set(found, 'connect', () => undefined) || found['connect'] !== before;
    return {
      keys: Object.keys(found).sort(),
      kinds: Object.values(found).map((value) => typeof value),
      frozen: Object.isFrozen(found),
      replaced,
    };
  });
  expect(bridge.keys).toEqual(
    [
      'answerClosing',
      'connect',
      'getSettings',
      'info',
      'onCommand',
      'pickFolder',
      'readDroppedPath',
      'saveText',
      'setSettings',
    ].sort(),
  );
  expect(new Set(bridge.kinds)).toEqual(new Set(['function']));
  expect(bridge.frozen).toBe(true);
  expect(bridge.replaced).toBe(false);
});

test('every page is served with the policy, and only by GET from inside the bundle', async ({ desktop }) => {
  const { page } = desktop;
  const answer = await ask(page, 'GET', `${address}index.html`);
  expect(answer.status).toBe(200);
  expect(answer.headers['content-security-policy']).toBe(
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; img-src 'self' data:; " +
      "font-src 'self'; frame-ancestors 'none'; form-action 'none'; base-uri 'none'",
  );
  expect(answer.headers['x-content-type-options']).toBe('nosniff');
  expect((await ask(page, 'POST', `${address}index.html`)).status).toBe(405);
  for (const outside of [
    '..%2fmain%2fdesktop.cjs',
    '%2e%2e%2fmain%2fdesktop.cjs',
    '..%5cmain%5cdesktop.cjs',
    'assets/..%2f..%2f..%2fpackage.json',
    '%2fetc%2fhostname.html',
    '.hidden.html',
    'missing.js',
  ]) {
    expect((await ask(page, 'GET', address + outside)).status, outside).toBe(404);
  }
});

test('no script but the bundle’s own runs, nothing else is fetched', async ({ desktop }) => {
  const { page } = desktop;
  const result = await page.evaluate(async () => {
    const violations: string[] = [];
    document.addEventListener('securitypolicyviolation', (event) =>
      violations.push(event.effectiveDirective),
    );
    const world = window as unknown as Record<string, unknown>;
    const inline = document.createElement('script');
    inline.textContent = 'window.inlineRan = true';
    document.head.append(inline);
    const image = document.createElement('img');
    image.setAttribute('onerror', 'window.handlerRan = true');
    image.src = 'https://example.com/a.png';
    document.body.append(image);
    const frame = document.createElement('iframe');
    frame.src = 'https://example.com/';
    document.body.append(frame);
    const fetched = await fetch('https://example.com/').then(
      () => true,
      () => false,
    );
    // Frames are refused a moment later, by the browser's process.
    const enough = () => violations.includes('frame-src');
    while (!enough()) await new Promise((done) => requestAnimationFrame(done));
    for (const element of [inline, image, frame]) element.remove();
    return { inlineRan: world['inlineRan'], handlerRan: world['handlerRan'], fetched, violations };
  });
  expect(result.inlineRan).toBeUndefined();
  expect(result.handlerRan).toBeUndefined();
  expect(result.fetched).toBe(false);
  expect(result.violations).toEqual(
    expect.arrayContaining(['script-src-elem', 'script-src-attr', 'connect-src', 'img-src', 'frame-src']),
  );
  await desktop.expectFaults([
    /inline script/i,
    /inline event handler/i,
    /load(ing)? the image 'https:\/\/example\.com/i,
    /connect.*'https:\/\/example\.com/i,
    /fram.*'https:\/\/example\.com/i,
  ]);
});

test('the page can neither leave nor open a window', async ({ desktop }) => {
  const { app, page } = desktop;
  // Nobody answers the question whether a link may be opened.
  await inMain(app, ({ dialog, shell }) => {
    const asked: string[] = [];
    (globalThis as unknown as { asked: string[] }).asked = asked;
    dialog.showMessageBox = (...given: unknown[]) => {
      asked.push(JSON.stringify(given.at(-1)));
      return Promise.resolve({ response: 1, checkboxChecked: false });
    };
    shell.openExternal = (url) => {
      asked.push(`opened ${url}`);
      return Promise.resolve();
    };
  });
  // Chromium itself refuses a page of ours the way to a file.
  for (const target of ['file:///etc/passwd', 'https://example.com/', 'iris://app.example/index.html']) {
    await page.evaluate((url) => {
      window.location.href = url;
    }, target);
    if (!target.startsWith('file:')) {
      await expect.poll(() => desktop.log()).toContain(`Prevented a navigation to ${target}`);
    }
    expect(page.url()).toContain(address);
  }
  // Not preventable by an event, so it is undone.
  await page.evaluate(() => {
    window.location.href = 'about:blank';
  });
  await expect.poll(() => desktop.log()).toContain('Left about:blank');
  await expect.poll(() => page.url()).toContain(address);
  // The page that came back has drawn and connected: nothing navigates any more.
  await expect(page.getByText('Healthy')).toBeVisible();
  const opened = await page.evaluate(() => [
    window.open('https://example.com/page') === null,
    window.open('file:///etc/passwd') === null,
    window.open('index.html') === null,
  ]);
  expect(opened).toEqual([true, true, true]);
  expect(app.windows()).toHaveLength(1);
  const asked = await inMain(app, () => (globalThis as unknown as { asked: string[] }).asked);
  // Only the https link was a question at all, and the answer was no.
  expect(asked).toHaveLength(1);
  expect(asked[0]).toContain('example.com');
});

test('permissions are denied; copying text works', async ({ desktop }) => {
  const { page } = desktop;
  const denied = await page.evaluate(async () => {
    const states: Record<string, string> = {};
    states['notifications'] = await Notification.requestPermission();
    states['geolocation'] = (await navigator.permissions.query({ name: 'geolocation' })).state;
    states['camera'] = await navigator.mediaDevices.getUserMedia({ video: true }).then(
      () => 'granted',
      () => 'denied',
    );
    states['screen'] = await navigator.mediaDevices.getDisplayMedia().then(
      () => 'granted',
      () => 'denied',
    );
    states['clipboard read'] = await navigator.clipboard.readText().then(
      () => 'granted',
      () => 'denied',
    );
    return states;
  });
  expect(denied).toEqual({
    notifications: 'denied',
    geolocation: 'denied',
    camera: 'denied',
    screen: 'denied',
    'clipboard read': 'denied',
  });
  // Asked for, not tried: without a window manager no page has the focus that copying needs.
  const copying = await page.evaluate(() =>
    navigator.permissions.query({ name: 'clipboard-write' as PermissionName }).then((status) => status.state),
  );
  expect(copying).toBe('granted');
});

test('requests with wrong parameters or from elsewhere are refused', async ({ desktop }) => {
  const { app, page } = desktop;
  const refusals = await page.evaluate(async () => {
    const bridge = (
      window as unknown as { irisDesktop: Record<string, (...given: unknown[]) => Promise<unknown>> }
    ).irisDesktop;
    const tries: [string, unknown[]][] = [
      ['setSettings', [{ theme: 'pink' }]],
      ['setSettings', [{ theme: 'dark', surplus: 1 }]],
      ['saveText', ['name', '../../etc', 'out']],
      ['saveText', ['name', '0123456789abcdef', 'both']],
      ['answerClosing', [{ choice: 'quit' }]],
      ['pickFolder', ['/tmp\0/x']],
    ];
    const messages: string[] = [];
    for (const [method, given] of tries) {
      messages.push(
        await (bridge[method]?.(...given) ?? Promise.resolve()).then(
          () => `${method} was accepted`,
          (error: unknown) => (error instanceof Error ? error.message : String(error)),
        ),
      );
    }
    return messages;
  });
  for (const message of refusals) expect(message).not.toContain('was accepted');
  expect(refusals[0]).toContain('theme');

  // A window that main did not make for its page, though it shows the same page with the same preload.
  const strange = await inMain(app, async ({ BrowserWindow, app: electron }) => {
    const window = new BrowserWindow({
      show: false,
      webPreferences: {
        preload: `${electron.getAppPath()}/out/preload/preload.cjs`,
        sandbox: true,
        contextIsolation: true,
      },
    });
    await window.loadURL('iris://app/-/crashed');
    const answer = (await window.webContents.executeJavaScript(`
      (async () => {
        const info = await window.irisDesktop.info().then(() => 'accepted', (error) => error.message);
        const ended = await new Promise((done) => {
          const connection = window.irisDesktop.connect(() => done('a frame came'), () => done('closed'));
          connection.send({ kind: 'call', id: 1, method: 'status', params: {} });
        });
        return { info, ended };
      })()`)) as { info: string; ended: string };
    window.destroy();
    return answer;
  });
  expect(strange).toEqual({ info: 'This page may not ask that.', ended: 'closed' });
  expect(desktop.log()).toContain('an unknown window');
});

test('nothing overrides certificates, webviews are prevented, one scheme is privileged', async ({
  desktop,
}) => {
  const facts = await inMain(desktop.app, ({ app, BrowserWindow, protocol }) => {
    const contents = BrowserWindow.getAllWindows()[0]?.webContents;
    return {
      // Electron itself listens once, to pass the event on.
      certificateListeners: app
        .listeners('certificate-error')
        .filter((listener) => !String(listener).includes('.emit(')).length,
      loginListeners: app.listenerCount('login'),
      webviewGuards: contents?.listenerCount('will-attach-webview') ?? 0,
      scheme: protocol.isProtocolHandled('iris'),
      file: protocol.isProtocolHandled('file'),
    };
  });
  expect(facts).toEqual({
    certificateListeners: 0,
    loginListeners: 0,
    webviewGuards: 1,
    scheme: true,
    file: false,
  });
  const webview = await desktop.page.evaluate(() => {
    const element = document.createElement('webview');
    element.setAttribute('src', 'https://example.com/');
    document.body.append(element);
    const made = { attached: 'getWebContentsId' in element };
    element.remove();
    return made;
  });
  expect(webview.attached).toBe(false);
});

test('a port is closed when the page is left', async ({ desktop }) => {
  const { page } = desktop;
  await page.evaluate(() => {
    const bridge = (
      window as unknown as { irisDesktop: { connect(frame: () => void, closed: () => void): unknown } }
    ).irisDesktop;
    bridge.connect(
      () => undefined,
      () => undefined,
    );
  });
  await page.reload();
  await expect(page.getByRole('contentinfo').or(page.getByText('running')).first()).toBeVisible();
  // More connections than one window may hold: those of the page before must not count.
  const open = await page.evaluate(async () => {
    const bridge = (
      window as unknown as {
        irisDesktop: {
          connect(
            frame: (frame: unknown) => void,
            closed: () => void,
          ): { send(frame: unknown): void; close(): void };
        };
      }
    ).irisDesktop;
    const answers = await Promise.all(
      Array.from(
        { length: 6 },
        () =>
          new Promise<string>((done) => {
            const connection = bridge.connect(
              () => {
                connection.close();
                done('answered');
              },
              () => done('closed'),
            );
            connection.send({
              kind: 'call',
              id: 1,
              method: 'hello',
              params: { contractVersion: 1, client: 'window' },
            });
          }),
      ),
    );
    return answers;
  });
  expect(open).toEqual(Array.from({ length: 6 }, () => 'answered'));
});

async function ask(
  page: Page,
  method: string,
  url: string,
): Promise<{ status: number; headers: Record<string, string> }> {
  return page.evaluate(
    async ([verb, target]) => {
      const response = await fetch(target, { method: verb });
      return { status: response.status, headers: Object.fromEntries(response.headers.entries()) };
    },
    [method, url] as [string, string],
  );
}
