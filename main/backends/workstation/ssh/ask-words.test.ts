import { expect, test } from 'vitest';
import { askedBy, tellsWhoAsks } from './ask-words.js';

test.each([
  ["Enter passphrase for key '/home/ann/.ssh/id_ed25519': ", 'passphrase', '/home/ann/.ssh/id_ed25519'],
  ["Enter passphrase for key '/home/ann/a key': ", 'passphrase', '/home/ann/a key'],
  ["ann@ws-2.lab's password: ", 'password', 'ann@ws-2.lab'],
  ['(ann@ws-2) Password: ', 'code', 'ann@ws-2'],
  ['(ann@ws-2) Verification code: ', 'code', 'ann@ws-2'],
  // What a machine may write into its own question.
  ["(eve@trap) Enter passphrase for key '/home/ann/.ssh/id_ed25519': ", 'code', 'eve@trap'],
  ["Enter PIN for ECDSA-SK key '/home/ann/.ssh/id_sk': ", 'code', ''],
])('%j asks for a %s of %j', (prompt, kind, subject) => {
  expect(askedBy(prompt, '')).toEqual({ kind, subject, text: prompt.trim() });
});

test.each([
  [
    "The authenticity of host '10.0.0.1 (10.0.0.1)' can't be established.\nED25519 key fingerprint is SHA256:x.\nAre you sure you want to continue connecting (yes/no/[fingerprint])? ",
    '',
  ],
  ["Please type 'yes', 'no' or the fingerprint: ", ''],
  ["Please type 'yes' or 'no': ", ''],
  ['Accept updated hostkeys? (yes/no): ', ''],
  ['(eve@trap) Are you sure you want to continue connecting (yes/no)? ', ''],
  ['Allow shared connection to ws-2? ', 'confirm'],
  ['  ', ''],
])('%j is asked of nobody', (prompt, hint) => {
  expect(askedBy(prompt, hint)).toBeNull();
});

test('a key that waits for a touch is told, and what cannot be shown is left out', () => {
  expect(askedBy('Confirm user presence for key ED25519-SK SHA256:x', 'none')).toEqual({
    kind: 'notice',
    subject: '',
    text: 'Confirm user presence for key ED25519-SK SHA256:x',
  });
  expect(askedBy('(a@b) \u001b[2J\u202eCode:\n', '')?.text).toBe('(a@b)  [2J Code:');
});

test.each([
  ['OpenSSH_9.2p1 Debian-2+deb12u10, OpenSSL 3.0.19 27 Jan 2026', true],
  ['OpenSSH_8.5p1, LibreSSL 3.3.1', true],
  ['OpenSSH_for_Windows_8.6p1, LibreSSL 3.4.3', true],
  ['OpenSSH_8.4p1, OpenSSL 1.1.1w', false],
  ['OpenSSH_7.4p1', false],
  ['', false],
])('%s says who asks: %s', (version, tells) => {
  expect(tellsWhoAsks(version)).toBe(tells);
});
