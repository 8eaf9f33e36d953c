import { expect, test } from 'vitest';
import { readDaemonError } from './daemon-errors.js';
import { pullTroubleOf } from './pull-errors.js';

test.each([
  ['Get "http://127.0.0.1:1/v2/": dial tcp 127.0.0.1:1: connect: connection refused', 'PASSING'],
  ['Get "https://registry.lab/v2/": net/http: TLS handshake timeout', 'PASSING'],
  [
    'Get "https://registry.lab/v2/": net/http: request canceled while waiting for connection (Client.Timeout exceeded while awaiting headers)',
    'PASSING',
  ],
  ['Get "https://registry.lab/v2/": context deadline exceeded', 'PASSING'],
  ['received unexpected HTTP status: 503 Service Unavailable', 'PASSING'],
  ['unexpected status code [manifests latest]: 502 Bad Gateway', 'PASSING'],
  [
    'failed to resolve reference "registry.lab/a:1": unexpected status from HEAD request to https://registry.lab/v2/a/manifests/1: 500 Internal Server Error',
    'PASSING',
  ],
  ['Get "https://registry.lab/v2/": EOF', 'PASSING'],
  ['read tcp 10.0.0.2:5000: read: connection reset by peer', 'PASSING'],
  ['dial tcp: lookup registry.lab on 127.0.0.53:53: server misbehaving', 'PASSING'],
  ['dial tcp: lookup registry.lbb on 10.0.0.1:53: no such host', 'UNKNOWN'],
  ['toomanyrequests: You have reached your pull rate limit.', 'UNKNOWN'],
  ['manifest for registry.lab/a:9 not found: manifest unknown', 'LASTING'],
  ['Get "https://registry.lab/v2/a/manifests/1": unauthorized: authentication required', 'LASTING'],
  ['x509: certificate signed by unknown authority', 'LASTING'],
  ['write /data/tmp: no space left on device', 'LASTING'],
  ['http: server gave HTTP response to HTTPS client', 'LASTING'],
  ['invalid reference format', 'LASTING'],
])('%s is %s', (said, trouble) => {
  expect(pullTroubleOf(readDaemonError(said))).toBe(trouble);
});
