/** Where a machine is: `ssh://[user@]host[:port]` or an alias of the user's own ~/.ssh/config. Pure. */
import { sshAddress } from '../../../../core/contract/machines.js';

export interface SshAddress {
  /** Null: as the user's own configuration has it. */
  readonly user: string | null;
  readonly host: string;
  readonly port: number | null;
}

/** Throws with what would be right. No part can begin with a dash or hold a blank, so none can be taken for an option. */
export function parseSshAddress(text: string): SshAddress {
  const parsed = sshAddress.safeParse(text);
  if (!parsed.success) throw new Error(`${JSON.stringify(text)} is no ${wanted}.`);
  const rest = parsed.data.replace(/^ssh:\/\//i, '');
  const at = rest.indexOf('@');
  const user = at < 0 ? null : rest.slice(0, at);
  const place = at < 0 ? rest : rest.slice(at + 1);
  const match = /^(\[[^\]]+\]|[^:]+)(?::(\d+))?$/.exec(place);
  const [, name = '', digits] = match ?? [];
  const host = name.replace(/^\[|\]$/g, '');
  const port = digits === undefined ? null : Number(digits);
  const usable = host !== '' && !host.startsWith('-') && (port === null || (port >= 1 && port <= 65_535));
  if (!usable) throw new Error(`${JSON.stringify(text)} is no ${wanted}.`);
  return { user, host, port };
}

const wanted = 'address such as ssh://ws-2, ssh://ann@ws-2.lab:2222 or an alias of ~/.ssh/config';

export function formatSshAddress({ user, host, port }: SshAddress): string {
  const place = host.includes(':') ? `[${host}]` : host;
  return `ssh://${user === null ? '' : `${user}@`}${place}${port === null ? '' : `:${port}`}`;
}
