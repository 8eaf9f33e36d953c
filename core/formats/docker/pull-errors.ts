/** Whether an image that could not be pulled may be had a moment later, by the Engine's words. */
import type { DaemonError } from './daemon-errors.js';

/**
 * `PASSING`: its registry does not answer, or not as it should. `UNKNOWN`: there is no machine of its registry's name, which passes when a
 * network is connected again and never does where the name is wrong; the same goes for one that wants fewer questions. `LASTING`: it was
 * answered, and asking again brings the same.
 */
export type PullTrouble = 'PASSING' | 'UNKNOWN' | 'LASTING';

const passing =
  /unexpected (?:http )?status.*\b5\d\d\b|\b50[0234] (?:internal server error|bad gateway|service unavailable|gateway time-?out)|unexpected EOF|: EOF$|connection reset by peer|no route to host|server misbehaving|temporary failure in name resolution|Client\.Timeout exceeded|request canceled while waiting|TLS handshake timeout|http2: .*(?:timeout|closed|GOAWAY)/i;

export function pullTroubleOf({ kind, said }: DaemonError): PullTrouble {
  if (kind === 'RATE_LIMIT') return 'UNKNOWN';
  if (kind === 'REGISTRY_UNREACHABLE') return /no such host/i.test(said) ? 'UNKNOWN' : 'PASSING';
  return kind === 'OTHER' && passing.test(said) ? 'PASSING' : 'LASTING';
}
