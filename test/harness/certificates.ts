/** Certificates for an Engine behind TLS. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** An authority in `folder`, with a certificate of the Engine at this address (`engine-*.pem`) and one of a client. */
export function certificates(folder: string, address: string): void {
  mkdirSync(folder);
  const ssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
  const key = ['-newkey', 'rsa:2048', '-nodes'];
  ssl('req', '-x509', ...key, '-keyout', 'ca-key.pem', '-out', 'ca.pem', '-days', '2', '-subj', '/CN=lab');
  const sign = (name: string, file: string, extension: string) => {
    writeFileSync(path.join(folder, 'extension'), extension);
    ssl('req', ...key, '-keyout', `${file}key.pem`, '-out', 'request', '-subj', `/CN=${name}`);
    const by = ['-CA', 'ca.pem', '-CAkey', 'ca-key.pem', '-CAcreateserial', '-days', '2'];
    ssl('x509', '-req', '-in', 'request', ...by, '-extfile', 'extension', '-out', `${file}cert.pem`);
  };
  sign('engine', 'engine-', `subjectAltName=IP:${address}\nextendedKeyUsage=serverAuth`);
  sign('client', '', 'extendedKeyUsage=clientAuth');
}

/** What dockerd is told to serve it there. */
export function tlsArguments(folder: string, host: string): readonly string[] {
  const file = (name: string) => path.join(folder, name);
  return [
    ...['--host', host, '--tlsverify', '--tlscacert', file('ca.pem')],
    ...['--tlscert', file('engine-cert.pem'), '--tlskey', file('engine-key.pem')],
  ];
}
