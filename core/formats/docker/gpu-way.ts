/**
 * How an Engine gives cards to containers, by its own word and by what is installed beside it: through NVIDIA's runtime or hook, or as
 * devices of the Container Device Interface (CDI), which need neither. With CDI alone, Docker before 29 refuses the usual request.
 */
import { z } from 'zod';

const kind = 'nvidia.com/gpu=';

const infoSchema = z.looseObject({
  Runtimes: z.record(z.string(), z.unknown()).nullish().catch(null),
  /** Since Docker 25; empty where CDI is off. */
  CDISpecDirs: z.array(z.string()).nullish().catch(null),
  /** Since Docker 28.2; absent also where there are none. */
  DiscoveredDevices: z
    .array(z.looseObject({ ID: z.string() }))
    .nullish()
    .catch(null),
});

/** NONE: in no way that can be seen. */
export type GpuWay = 'RUNTIME' | 'CDI' | 'NONE';

export interface GpuWays {
  readonly way: GpuWay;
  /** What stands in the way of it and can be mended; null: nothing that is known. */
  readonly obstacle: string | null;
}

/** Where the toolkit puts its hook, which the Engine takes from its path and tells nobody. */
const hookPlaces: readonly string[] = [
  '/usr/bin/nvidia-container-runtime-hook',
  '/usr/bin/nvidia-container-toolkit',
];
/** Names that NVIDIA's descriptions of cards have in a folder of such. */
const specNames: readonly string[] = ['nvidia.yaml', 'nvidia.json', 'nvidia-container-toolkit.json'];

/** What is worth looking for on the Engine's machine: nothing where it tells all by itself. */
export function gpuPlaces(info: unknown): readonly string[] {
  return hasRuntime(info) ? [] : [...hookPlaces, ...specPlaces(info)];
}

function hasRuntime(info: unknown): boolean {
  return Object.keys(read(info).Runtimes ?? {}).some((name) => name.startsWith('nvidia'));
}

function specPlaces(info: unknown): readonly string[] {
  const { CDISpecDirs: folders, DiscoveredDevices: told } = read(info);
  if (told !== null && told !== undefined) return [];
  return (folders ?? []).flatMap((folder) => specNames.map((name) => `${folder}/${name}`));
}

/** From the answer to `/info`; `there`: of the places above, those where something is. */
export function gpuWays(info: unknown, there: readonly string[]): GpuWays {
  const { DiscoveredDevices: told } = read(info);
  if (hasRuntime(info) || hookPlaces.some((place) => there.includes(place)))
    return { way: 'RUNTIME', obstacle: null };
  const ids = (told ?? []).flatMap(({ ID: id }) => (id.startsWith(kind) ? [id.slice(kind.length)] : []));
  if (ids.some((id) => /^(GPU|MIG)-/.test(id))) return { way: 'CDI', obstacle: null };
  if (ids.length > 0)
    return {
      way: 'NONE',
      obstacle:
        'Its CDI devices name cards by number alone, and jobs are given cards by UUID: run sudo nvidia-ctk cdi generate --device-name-strategy=uuid --output=/etc/cdi/nvidia.yaml there.',
    };
  if (specPlaces(info).some((place) => there.includes(place))) return { way: 'CDI', obstacle: null };
  return { way: 'NONE', obstacle: null };
}

/** `nvidia.com/gpu=GPU-…` for a card. */
export function cdiName(device: string): string {
  return `${kind}${device}`;
}

/** The card of such a name, or the text itself. */
export function withoutKind(name: string): string {
  return name.startsWith(kind) ? name.slice(kind.length) : name;
}

function read(info: unknown): z.infer<typeof infoSchema> {
  return infoSchema.safeParse(info).data ?? {};
}
