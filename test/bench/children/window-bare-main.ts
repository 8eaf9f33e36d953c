/** The least Electron application: one window of the design's size on a page of a folder. What the real one is compared with. */
import { app, BrowserWindow } from 'electron';

const profile = process.env['BENCH_PROFILE'];
const page = process.env['BENCH_PAGE'];
const rows = process.env['BENCH_ROWS'] ?? '0';
if (profile === undefined || page === undefined)
  throw new Error('BENCH_PROFILE and BENCH_PAGE are to be set.');

app.setPath('userData', profile);
app.on('window-all-closed', () => app.quit());
void app.whenReady().then(() => {
  // At the left edge: the real window opens in the middle of the display.
  const window = new BrowserWindow({ x: 0, y: 0, width: 1280, height: 800, autoHideMenuBar: true });
  return window.loadFile(page, { hash: rows });
});
