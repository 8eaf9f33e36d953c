/** Whether a logout would end jobs: systemd kills what lives under a user's session unless lingering is on. */
import { access } from 'node:fs/promises';

/** The sentence to show with a submission, or null. root's services are not bound to a login. */
export async function lingeringWarning(user: string): Promise<string | null> {
  if (process.platform !== 'linux' || process.getuid?.() === 0) return null;
  // sd_booted(3): this folder exists exactly when systemd is the init system.
  if (!(await exists('/run/systemd/system')) || (await exists(`/var/lib/systemd/linger/${user}`)))
    return null;
  return `Logging out may end running jobs on this machine. To let them go on, turn lingering on: loginctl enable-linger ${user}`;
}

async function exists(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch {
    return false;
  }
}
