import { describe, expect, test } from 'vitest';
import { sshAddress } from '../../../../core/contract/machines.js';
import { formatSshAddress, parseSshAddress } from './address.js';

describe('an address of a machine', () => {
  test.each([
    ['ws-2', { user: null, host: 'ws-2', port: null }],
    ['ssh://ws-2', { user: null, host: 'ws-2', port: null }],
    ['ssh://ann@ws-2.lab:2222', { user: 'ann', host: 'ws-2.lab', port: 2222 }],
    ['bob@[fe80::1]:22', { user: 'bob', host: 'fe80::1', port: 22 }],
    ['10.0.0.7:65535', { user: null, host: '10.0.0.7', port: 65_535 }],
  ])('%s', (text, expected) => {
    expect(parseSshAddress(text)).toEqual(expected);
    expect(parseSshAddress(formatSshAddress(expected))).toEqual(expected);
  });

  test.each([
    '',
    '-oProxyCommand=x',
    'ssh://-l',
    '-l@host',
    'a b',
    'host:0',
    'host:65536',
    'ssh://ann@host:99999',
    'host;ls',
    'host\n',
    '$(x)',
  ])('refuses %j, saying what would be right', (text) => {
    expect(sshAddress.safeParse(text).success).toBe(text === 'host\n');
    if (text === 'host\n') expect(parseSshAddress(text).host).toBe('host');
    else expect(() => parseSshAddress(text)).toThrow('an alias of ~/.ssh/config');
  });
});
