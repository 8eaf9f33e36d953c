import { expect, test } from 'vitest';
import { gpuPlaces, gpuWays } from './gpu-way.js';

const folders = ['/etc/cdi', '/var/run/cdi'];
const runc = { Runtimes: { runc: {} } };
/** As the API describes what 28.2 and later say. */
const devices = (...names: string[]) => ({
  ...runc,
  CDISpecDirs: folders,
  DiscoveredDevices: names.map((ID) => ({ Source: 'cdi', ID })),
});

test("NVIDIA's runtime, or its hook on the path, takes the usual request, whatever else there is", () => {
  expect(gpuWays({ Runtimes: { runc: {}, nvidia: {} } }, []).way).toBe('RUNTIME');
  expect(gpuWays(runc, ['/usr/bin/nvidia-container-runtime-hook']).way).toBe('RUNTIME');
  expect(gpuWays({ ...devices('nvidia.com/gpu=GPU-a'), Runtimes: { nvidia: {} } }, []).way).toBe('RUNTIME');
});

test('without them, cards that it lists as devices by UUID are given as such, slices as well', () => {
  expect(gpuWays(devices('nvidia.com/gpu=0', 'nvidia.com/gpu=GPU-a', 'nvidia.com/gpu=all'), [])).toEqual({
    way: 'CDI',
    obstacle: null,
  });
  expect(gpuWays(devices('nvidia.com/gpu=MIG-a'), []).way).toBe('CDI');
});

test('devices that are named by number alone are none for jobs, and it says what to do', () => {
  const { way, obstacle } = gpuWays(devices('nvidia.com/gpu=0', 'nvidia.com/gpu=all'), []);
  expect(way).toBe('NONE');
  expect(obstacle).toContain('nvidia-ctk cdi generate --device-name-strategy=uuid');
});

test("one that does not list its devices has those of NVIDIA's description where it reads them", () => {
  const info = { ...runc, CDISpecDirs: folders };
  expect(gpuPlaces(info)).toContain('/etc/cdi/nvidia.yaml');
  expect(gpuPlaces({ ...info, Runtimes: { nvidia: {} } })).toEqual([]);
  expect(gpuPlaces(devices('nvidia.com/gpu=0'))).not.toContain('/etc/cdi/nvidia.yaml');
  expect(gpuWays(info, ['/etc/cdi/nvidia.yaml']).way).toBe('CDI');
  expect(gpuWays(info, []).way).toBe('NONE');
});

test.each([
  runc,
  { ...runc, CDISpecDirs: [] },
  devices('amd.com/gpu=0'),
  { Runtimes: 7, DiscoveredDevices: [1] },
  null,
])('%j gives none', (info) => {
  expect(gpuWays(info, ['/etc/cdi/nvidia.yaml'])).toEqual({ way: 'NONE', obstacle: null });
});
