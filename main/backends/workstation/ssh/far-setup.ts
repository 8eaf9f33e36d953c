/** What the far hand is told first: the folder it shall own, and as whom it claims cards there. */
import { createHash } from 'node:crypto';
import supervisorText from '../process/supervisor.sh?raw';
import type { FarText } from './far-words.js';
import { controllerId, type MachineFacts } from './machine-memory.js';
import { supervisorName } from './supervisor-name.js';

/** `claimsFolder`: undefined for the one that login there has. */
export function setupTexts(
  home: string,
  facts: MachineFacts,
  claimsFolder: string | undefined,
): readonly FarText[] {
  const owner = facts.machineId.slice(0, 12) || facts.hostname;
  // Home folders are often shared by all machines of a lab: each has its own below.
  const folder = `.local/state/iris-desktop/attempts-${controllerId(home)}/${owner}`;
  const controller = createHash('sha256').update(folder).digest('hex').slice(0, 16);
  return ['setup', folder, supervisorName(supervisorText), supervisorText, claimsFolder ?? '', controller];
}
