/** Phase 1: what a zone has been seen to give, as attributes of its machines; only looked at where a task asks for it. */
import type { Attributes } from './constraints.js';

/** GPU models (lower case) actually obtained, by zone. */
export type Capabilities = ReadonlyMap<string, ReadonlySet<string>>;

const prefix = 'availability:';

/** Value of `availability:<variant>` on a machine of that zone; undefined where nothing is known. It reserves nothing. */
export function availabilityMarker(
  key: string,
  attributes: Attributes,
  capabilities: Capabilities | null,
): string | undefined {
  if (capabilities === null || !key.startsWith(prefix)) return undefined;
  const zone = Object.hasOwn(attributes, 'zone') ? attributes['zone'] : undefined;
  if (zone === undefined) return undefined;
  const variant = key.slice(prefix.length).toLowerCase();
  return capabilities.get(String(zone))?.has(variant) === true ? 'true' : undefined;
}
