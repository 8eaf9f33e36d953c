/** What a window shows when its page keeps crashing: plain, without scripts, in the colours of the system. */
import { appOrigin } from './asset-path.js';

export function crashPage(): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="color-scheme" content="light dark" />
    <title>Iris Desktop</title>
    <style>
      body { font: 14px system-ui, sans-serif; margin: 15vh auto; max-width: 36rem; padding: 0 2rem; line-height: 1.5; }
      a { color: inherit; }
    </style>
  </head>
  <body>
    <main>
      <h1>The window stopped working</h1>
      <p>Its page ended several times within a minute, so it was not loaded again. Your jobs are not touched: they run and their logs are written.</p>
      <p>What happened is in desktop.log, in the folder logs of the data folder. <code>irisctl job list</code> shows your jobs meanwhile.</p>
      <p><a href="${appOrigin}/index.html">Load the window again</a></p>
    </main>
  </body>
</html>
`;
}
