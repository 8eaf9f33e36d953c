import { describe, expect, test } from 'vitest';
import { sshFailure, toldOfContact } from './ssh-failure.js';

describe('the words of an SSH client that ended', () => {
  test.each([
    ['silent', 'ssh: connect to host 10.9.0.2 port 22: Connection timed out'],
    ['silent', 'ssh: connect to host 10.9.0.2 port 22: No route to host\r\n'],
    ['refused', 'ssh: connect to host 10.9.0.2 port 22: Connection refused'],
    ['unknown-name', 'ssh: Could not resolve hostname ws-9: Name or service not known'],
    [
      'unknown-key',
      'No ED25519 host key is known for 10.9.0.2 and you have requested strict checking.\nHost key verification failed.',
    ],
    [
      'changed-key',
      '@@@@\n@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @\n@@@\nHost key verification failed.',
    ],
    ['login', 'ann@10.9.0.2: Permission denied (publickey,password).'],
    ['client', '/root/.ssh/config: line 3: Bad configuration option: frob'],
    ['cut', 'client_loop: send disconnect: Broken pipe'],
    ['silent', 'Timeout, server 10.9.0.2 not responding.'],
    ['other', 'something new'],
  ])('%s: %s', (kind, text) => {
    const failure = sshFailure('ws-2', 255, text, '');
    expect(failure.kind).toBe(kind);
    expect(failure.message).toMatch(/\.$/);
    expect(failure.advice).not.toBe('');
  });

  test.each(['client_loop: send disconnect: Broken pipe', 'Timeout, server 10.9.0.2 not responding.'])(
    'that it is tried again is told of a machine that is kept in contact with alone: %s',
    (text) => {
      const failure = sshFailure('ws-2', 255, text, '');
      expect(`${failure.message} ${failure.advice}`).not.toContain('tried again');
      expect(toldOfContact(failure)).toContain('It is tried again by itself; tasks there go on meanwhile.');
    },
  );

  test('a machine without Perl and a shell that runs nothing are told apart', () => {
    expect(sshFailure('ws-2', 127, 'bash: line 1: exec: perl: not found', '').message).toContain(
      'no Perl on ws-2',
    );
    expect(sshFailure('ws-2', 127, 'bash: Zeile 1: exec: perl: Nicht gefunden.', '').message).toContain(
      'no Perl on ws-2',
    );
    const closed = sshFailure('ws-2', 1, '', 'This account is currently not available.');
    expect(closed).toMatchObject({ kind: 'shell' });
    expect(closed.message).toContain('This account is currently not available.');
  });

  test.each([2, 255])('a Perl without its modules is told as that, by the exit code %i', (code) => {
    const text =
      "Can't locate List/Util.pm in @INC (you may need to install the List::Util module) (@INC entries checked: /etc/perl) at (eval 1) line 2.\nBEGIN failed--compilation aborted at (eval 1) line 2.\n";
    expect(sshFailure('ws-2', code, text, '')).toEqual({
      kind: 'shell',
      message: 'Perl on ws-2 lacks its module List::Util, which starting and watching tasks needs.',
      advice: "Install it there (apt install perl, dnf install 'perl(List::Util)').",
    });
  });
});
