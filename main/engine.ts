/**
 * How the engine compiles the controller's code. Most of that code runs now and then over days, and a burst of a few thousand jobs is
 * over before optimised code has paid for its making: with the engine's own settings a tenth of all processor time of such a burst
 * went into the optimising compiler's threads, beside the commands that were to run. So only what has run nine times longer than usual is
 * optimised; what runs often gets simple machine code first, as the engine does by itself.
 */
import { setFlagsFromString } from 'node:v8';

/**
 * Mebibytes of each half of the space for young objects. The engine's own one, which it is slow to widen, has what a start makes moved
 * several times over and in part taken for old; that again makes collections of everything, the longest frames of a window.
 */
export const youngSpaceFlag = '--min-semi-space-size=16';

/** In the terms of the engine's version: up to 11 it counts bytes of bytecode, from 13 on calls. It complains of what it does not know. */
export function burstFlags(engineVersion: string): readonly string[] {
  const major = Number.parseInt(engineVersion, 10);
  if (major <= 11) return [youngSpaceFlag, '--interrupt-budget=600000'];
  return major < 13
    ? [youngSpaceFlag]
    : [youngSpaceFlag, '--invocation-count-for-maglev=3600', '--invocation-count-for-turbofan=27000'];
}

/**
 * Simple machine code for everything at once. Not under the desktop: at its start everything is Node's own code too, of which Electron
 * keeps no compiled form, in two threads; it was a seventh of all processor time until its page was drawn.
 */
export const compileAtOnceFlag = '--always-sparkplug';

/** To be called first thing in a process or thread of a controller. The young space is that of threads made afterwards. */
export function compileForBursts(options: { readonly atOnce: boolean }): void {
  for (const flag of burstFlags(process.versions.v8)) setFlagsFromString(flag);
  if (options.atOnce) setFlagsFromString(compileAtOnceFlag);
}
