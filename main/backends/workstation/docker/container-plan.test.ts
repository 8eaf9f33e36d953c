import { describe, expect, it } from 'vitest';
import { launchOf } from '../../../../test/harness/backend-probe.js';
import type { JobRequest } from '../../../../core/contract/job-request.js';
import { confine } from './confinement.js';
import { containerPlan, type PlanInput } from './container-plan.js';

function planOf(request: Partial<JobRequest>, more: Partial<PlanInput> = {}, devices: string[] = []) {
  const launch = launchOf(
    { command: ['true'], image: 'a:1', workingDirectory: '/w', ...request },
    { devices },
  );
  return containerPlan(
    {
      launch,
      owner: 'me',
      binds: [],
      hidden: [],
      scratch: '/d/attempts/u/work',
      image: {},
      venv: false,
      user: { uid: 1000, gid: 100, groups: [100, 27] },
      init: true,
      remapped: false,
      cdi: false,
      socket: { path: '/run/docker.sock', gid: 999 },
      ...more,
    },
    'run',
  );
}

describe('what the Engine is told', () => {
  it('gives each profile its rights and no more', () => {
    const rights = (containerProfile: JobRequest['containerProfile']) => {
      const { HostConfig: host } = planOf({ containerProfile });
      const adds: unknown = host?.CapAdd;
      return { drops: host?.CapDrop as unknown, adds, more: host?.Privileged, runtime: host?.Runtime };
    };
    const none = { drops: ['ALL'], adds: undefined, more: undefined, runtime: undefined };
    expect(rights('restricted')).toEqual(none);
    expect(rights('default')).toEqual({ ...none, adds: ['SYS_PTRACE'] });
    expect(rights('gvisor')).toEqual({ ...none, adds: ['SYS_PTRACE'], runtime: 'runsc' });
    expect(rights('docker-access')).toEqual({ ...none, adds: ['SYS_PTRACE'] });
    expect(rights('privileged')).toEqual({ ...none, drops: undefined, more: true });
    for (const containerProfile of ['default', 'restricted', 'gvisor', 'docker-access'] as const)
      expect(planOf({ containerProfile }).HostConfig?.SecurityOpt).toEqual(['no-new-privileges']);
  });

  it("mounts the Engine's socket for docker-access alone", () => {
    const sockets = (containerProfile: JobRequest['containerProfile']) =>
      planOf({ containerProfile }).HostConfig?.Mounts?.filter(({ Source }) => Source.endsWith('docker.sock'))
        .length;
    expect([sockets('docker-access'), sockets('default'), sockets('privileged')]).toEqual([1, 0, 0]);
    expect(planOf({ containerProfile: 'docker-access' }).HostConfig?.GroupAdd).toContain('999');
  });

  it('names cards and never counts them, and hides the others', () => {
    const uuid = 'GPU-a0000001-0000-4000-8000-000000000001';
    const [request] = planOf({}, {}, [uuid]).HostConfig?.DeviceRequests ?? [];
    expect(request).toEqual({ Driver: '', DeviceIDs: [uuid], Capabilities: [['gpu']] });
    expect(planOf({}, { cdi: true }, [uuid]).HostConfig?.DeviceRequests).toEqual([
      { Driver: 'cdi', DeviceIDs: [`nvidia.com/gpu=${uuid}`] },
    ]);
    expect(planOf({}, { cdi: true }).HostConfig?.DeviceRequests).toBeUndefined();
    expect(planOf({}).HostConfig?.DeviceRequests).toBeUndefined();
    expect(planOf({ environment: { NVIDIA_VISIBLE_DEVICES: 'all' } }).Env).toContain(
      'NVIDIA_VISIBLE_DEVICES=void',
    );
  });

  it('keeps caches of the machine for all jobs, but where a job or its image chose otherwise', () => {
    const seen = (request: Partial<JobRequest>, more: Partial<PlanInput> = {}) => {
      const { Env: env = [], HostConfig: host } = planOf(request, more);
      const targets = host?.Mounts?.filter(({ Source }) => Source.startsWith('/d/caches/'));
      return {
        mounts: targets?.map(({ Source, Target }) => `${Source} ${Target}`),
        env: env.filter((each) => /^(UV_CACHE|UV_PYTHON|HF_|CARGO_)/.test(each)),
      };
    };
    const usual = seen({});
    expect(usual.mounts).toEqual([
      '/d/caches/uv /uv/cache',
      '/d/caches/hf /hf/cache',
      '/d/caches/cargo /cargo',
      '/d/caches/cache /cache',
    ]);
    const uv = ['UV_CACHE_DIR=/uv/cache', 'UV_PYTHON_INSTALL_DIR=/uv/cache/python'];
    expect(usual.env).toEqual([...uv, 'HF_HUB_CACHE=/hf/cache', 'CARGO_HOME=/cargo']);
    const models = seen({ environment: { HF_HOME: '/models' } });
    expect(models.env).toEqual([...uv, 'CARGO_HOME=/cargo', 'HF_HOME=/models']);
    expect(seen({}, { image: { CARGO_HOME: '/usr/local/cargo' } }).env).not.toContain('CARGO_HOME=/cargo');
    // What the image has there stays to be seen.
    const rust = { CARGO_HOME: '/cargo', PATH: '/cargo/bin:/bin' };
    expect(seen({}, { image: rust }).mounts).not.toContain('/d/caches/cargo /cargo');
    expect(seen({}, { image: { CARGO_HOME: '/cargo' } }).mounts).toContain('/d/caches/cargo /cargo');
    const baked = seen({}, { image: { HF_HOME: '/cache/hf/', XDG_CACHE_HOME: '/cached' } });
    expect(baked.mounts).toEqual([
      '/d/caches/uv /uv/cache',
      '/d/caches/hf /hf/cache',
      '/d/caches/cargo /cargo',
    ]);
    const own = seen({}, { binds: [{ source: '/x', target: '/uv', readOnly: false }] });
    expect(own.mounts).not.toContain('/d/caches/uv /uv/cache');
    expect(own.env).toEqual(['HF_HUB_CACHE=/hf/cache', 'CARGO_HOME=/cargo']);
  });

  it('runs the command in the Python environment that its set-up made, before what is on its search path', () => {
    const made = (request: Partial<JobRequest>, more: Partial<PlanInput>) =>
      planOf({ setup: ['uv sync'], ...request }, { venv: true, ...more }).Env ?? [];
    expect(made({}, { image: { PATH: '/opt/bin:/bin' } })).toEqual(
      expect.arrayContaining([
        'PATH=/iris/work/.venv/bin:/opt/bin:/bin',
        'VIRTUAL_ENV=/iris/work/.venv',
        'IRIS_VENV=/iris/work/.venv',
        'UV_PROJECT_ENVIRONMENT=/iris/work/.venv',
      ]),
    );
    expect(made({ environment: { PATH: '/mine' } }, {})).toContain('PATH=/iris/work/.venv/bin:/mine');
    expect(made({}, {})).toContain(
      'PATH=/iris/work/.venv/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    );
    expect(made({ environment: { VIRTUAL_ENV: '/w/.venv' } }, {}).join(' ')).not.toContain(' PATH=');
    const without = planOf({}).Env?.join(' ');
    expect(without).not.toContain('VIRTUAL_ENV');
    expect(without).not.toContain(' PATH=');
  });

  it("puts the job's variables over Iris', but not over what clean-up goes by", () => {
    const environment = { IRIS_TASK_ID: 'mine', IRIS_WORKDIR: '/mine', PYTHONUNBUFFERED: '0', HOME: '/h' };
    const env = planOf({ environment }).Env ?? [];
    expect(env).toEqual(expect.arrayContaining(['IRIS_TASK_ID=mine', 'PYTHONUNBUFFERED=0', 'HOME=/h']));
    expect(env).toContain('IRIS_WORKDIR=/iris/work');
  });

  it('names a user whom the image does not know, unless the job does', () => {
    expect(planOf({}).Env).toEqual(
      expect.arrayContaining(['HOME=/iris/work', 'USER=uid-1000', 'LOGNAME=uid-1000']),
    );
    expect(planOf({ environment: { USER: 'ann' } }).Env).toEqual(
      expect.arrayContaining(['USER=ann', 'LOGNAME=uid-1000']),
    );
    for (const user of [null, { uid: 0, gid: 0, groups: [] }])
      expect(planOf({}, { user }).Env?.filter((each) => /^(HOME|USER|LOGNAME)=/.test(each))).toEqual([]);
  });

  it('says on each container whose it is and of what', () => {
    const launch = launchOf({ command: ['true'], image: 'a:1', workingDirectory: '/w' });
    expect(planOf({}, { launch: { ...launch, taskId: '/ann/sweep/child/12' } }).Labels).toEqual({
      'iris.managed': 'me',
      'iris.attempt-uid': launch.uid,
      'iris.task': '/ann/sweep/child/12',
      'iris.job': '/ann/sweep/child',
      'iris.worker': launch.workerId,
      'iris.part': 'run',
    });
  });

  it('limits only what was asked for', () => {
    expect(planOf({}).HostConfig).not.toHaveProperty('Memory');
    expect(planOf({ memory: '64MB', cpu: 2, pidsLimit: 9, shm: '1MiB' }).HostConfig).toMatchObject({
      Memory: 64_000_000,
      MemorySwap: 64_000_000,
      CpuShares: 2048,
      PidsLimit: 9,
      ShmSize: 1_048_576,
    });
  });
});

describe('folders a container may see', () => {
  const spec = { workingDirectory: '/home/ann', mounts: [], containerProfile: 'DEFAULT' } as const;
  const base = {
    realPath: (path: string) => Promise.resolve(path),
    ownFolders: ['/home/ann/.local/share/iris'],
    engineSockets: ['/run/docker.sock'],
  };

  it('covers our data where a home folder is seen', async () => {
    expect(await confine({ ...base, spec })).toEqual({
      ok: true,
      binds: [{ source: '/home/ann', target: '/home/ann', readOnly: false }],
      hidden: ['/home/ann/.local/share/iris'],
    });
  });

  it('follows links before it judges', async () => {
    const realPath = (path: string) => Promise.resolve(path === '/home/ann' ? '/run' : path);
    expect(await confine({ ...base, spec, realPath })).toMatchObject({
      ok: false,
      cause: { code: 'FOLDER_NOT_PERMITTED' },
    });
    expect(
      await confine({ ...base, realPath, spec: { ...spec, containerProfile: 'DOCKER_ACCESS' } }),
    ).toMatchObject({
      ok: true,
    });
  });
});
