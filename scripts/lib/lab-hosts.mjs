/**
 * Machines to practise on, as root on one Linux machine: each has network, processes, mounts, name, home folder, boot id and machine
 * id of its own (namespaces), and a real sshd. Nothing of them is left when the lab is closed. However its owner ends, a
 * host's processes die with their first one, and that with us; only names of networks are left then.
 */
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hasProgram } from './run.mjs';

/** Why there can be no lab here; null when there can. @returns {string | null} */
export function labObstacle() {
  if (process.platform !== 'linux') return 'hosts in namespaces are a thing of Linux';
  if (process.getuid?.() !== 0) return 'hosts in namespaces need root';
  const missing = ['ip', 'ssh', 'ssh-keygen', 'unshare', 'nsenter', 'perl'].filter(
    (name) => !hasProgram(name),
  );
  if (!existsSync(sshd)) missing.push('sshd');
  if (missing.length > 0) return `${missing.join(', ')} not found`;
  return null;
}

const sshd = '/usr/sbin/sshd';

/** @param {string} program @param {readonly string[]} args */
function must(program, args) {
  const done = spawnSync(program, args, { encoding: 'utf8', timeout: 60_000 });
  if (done.status !== 0) {
    const said = done.error?.message ?? `exit code ${done.status}: ${done.stderr}${done.stdout}`;
    throw new Error(`${program} ${args.join(' ')}: ${said}`);
  }
  return done.stdout;
}

/** An address range of four that nothing here uses. */
function freeNetwork() {
  const used = must('ip', ['-o', '-4', 'addr']);
  for (;;) {
    const base = `10.${randomInt(130, 250)}.${randomInt(256)}`;
    const at = randomInt(64) * 4;
    if (!used.includes(` ${base}.`)) return { here: `${base}.${at + 1}`, there: `${base}.${at + 2}` };
  }
}

/** The first process of a host: it takes in what others leave behind, and ends with us. */
const init =
  'while (1) { 1 while waitpid(-1, 1) > 0; $in = ""; vec($in, 0, 1) = 1; exit if select($in, undef, undef, 0.05) > 0 }';

export class LabHost {
  /** @param {Lab} lab @param {string} name */
  constructor(lab, name) {
    this.lab = lab;
    this.name = name;
    this.folder = join(lab.folder, name);
    this.home = join(this.folder, 'home');
    /** Its /var/tmp: what is there outlives a restart of it. */
    this.kept = join(this.folder, 'var-tmp');
    const id = randomBytes(3).toString('hex');
    this.space = `iris-${id}`;
    this.outside = `iro${id}`;
    this.network = freeNetwork();
    /** @type {import('node:child_process').ChildProcess | null} */
    this.process = null;
    /** Seconds its clock is ahead, as its Perl sees it. */
    this.clockAheadSeconds = 0;
    /** Where commands of a login there are found. */
    this.searchPath = '';
    /** Of an Engine that answers there as its own. */
    this.dockerSocket = '';
    /** Of its user; empty: only keys are let in. */
    this.password = '';
    /** On one connection. */
    this.maxSessions = 10;
    mkdirSync(this.home, { recursive: true, mode: 0o700 });
    mkdirSync(this.kept);
    chmodSync(this.kept, 0o1777);
    // Its home folder has the same path there as here, as an Engine that lives here needs it.
    const users = readFileSync('/etc/passwd', 'utf8').replace(
      /^(root:.*:)[^:]*(:[^:]*)$/m,
      `$1${this.home}$2`,
    );
    writeFileSync(join(this.folder, 'passwd'), users);
    this.setMachineId(randomBytes(16).toString('hex'));
    this.newHostKey();
    must('ip', ['netns', 'add', this.space]);
    const inside = `iri${id}`;
    must('ip', ['link', 'add', this.outside, 'type', 'veth', 'peer', 'name', inside, 'netns', this.space]);
    must('ip', ['addr', 'add', `${this.network.here}/30`, 'dev', this.outside]);
    must('ip', ['link', 'set', this.outside, 'up']);
    must('ip', ['-n', this.space, 'addr', 'add', `${this.network.there}/30`, 'dev', inside]);
    must('ip', ['-n', this.space, 'link', 'set', inside, 'up']);
    must('ip', ['-n', this.space, 'link', 'set', 'lo', 'up']);
  }

  get address() {
    return this.network.there;
  }

  /** @param {string} id */
  setMachineId(id) {
    writeFileSync(join(this.folder, 'machine-id'), `${id}\n`);
  }

  newHostKey() {
    const file = join(this.folder, 'host-key');
    rmSync(file, { force: true });
    rmSync(`${file}.pub`, { force: true });
    must('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', this.name, '-f', file]);
  }

  /** `SHA256:...` of its host key. */
  fingerprint() {
    return must('ssh-keygen', ['-lf', join(this.folder, 'host-key.pub')]).split(' ')[1] ?? '';
  }

  /** The line of known_hosts that would be right. */
  knownHostsLine() {
    const [type, key] = readFileSync(join(this.folder, 'host-key.pub'), 'utf8').split(' ');
    return `${this.address} ${type} ${key}\n`;
  }

  /** Starts it, with a new boot id. */
  async boot() {
    const hex = randomBytes(16).toString('hex');
    const bootId = hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
    writeFileSync(join(this.folder, 'boot-id'), `${bootId}\n`);
    this.writeConfig();
    if (this.password !== '') this.writeShadow();
    const script = [
      'set -e',
      `mount --bind ${this.folder}/machine-id /etc/machine-id`,
      `mount --bind ${this.folder}/boot-id /proc/sys/kernel/random/boot_id`,
      `mount --bind ${this.home} /root`,
      `mount --bind ${this.folder}/passwd /etc/passwd`,
      `mount --bind ${this.kept} /var/tmp`,
      ...(this.password === '' ? [] : [`mount --bind ${this.folder}/shadow /etc/shadow`]),
      'mount -t tmpfs tmpfs /run',
      'mkdir -p /run/sshd',
      ...(this.dockerSocket === ''
        ? []
        : ['touch /run/docker.sock', `mount --bind ${this.dockerSocket} /run/docker.sock`]),
      `hostname ${this.name}`,
      `${sshd} -f ${this.folder}/sshd_config -E ${this.folder}/sshd.log`,
      'echo up',
      `exec perl -e '${init}'`,
    ].join('\n');
    const unshare = ['unshare', '--mount', '--uts', '--pid', '--fork', '--kill-child', '--mount-proc'];
    // A clean environment: what a login there finds must not come from here.
    const env = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' };
    const args = ['netns', 'exec', this.space, ...unshare, 'sh', '-c', script];
    // A terminal's Ctrl-C is for whoever opened the lab, who then ends it in order.
    const child = spawn('ip', args, { stdio: ['pipe', 'pipe', 'pipe'], env, detached: true });
    this.process = child;
    await new Promise((resolve, reject) => {
      let said = '';
      child.stderr.on('data', (text) => (said += text));
      child.stdout.on('data', resolve);
      child.once('error', reject);
      child.once('exit', (code) => reject(new Error(`The host ${this.name} ended (${code}): ${said}`)));
    });
  }

  /** How often somebody was let in since it began. */
  logins() {
    return readFileSync(join(this.folder, 'sshd.log'), 'utf8').match(/^Accepted /gm)?.length ?? 0;
  }

  writeShadow() {
    const program = 'print crypt($ARGV[0], q($6$) . $ARGV[1] . q($))';
    const hash = must('perl', ['-e', program, this.password, randomBytes(6).toString('hex')]);
    writeFileSync(join(this.folder, 'shadow'), `root:${hash}:20000:0:99999:7:::\n`, { mode: 0o600 });
  }

  writeConfig() {
    const ahead = this.clockAheadSeconds;
    const lines = [
      `ListenAddress ${this.address}`,
      `HostKey ${this.folder}/host-key`,
      `AuthorizedKeysFile ${this.password === '' ? `${this.lab.folder}/key.pub ${this.lab.folder}/locked.pub` : 'none'}`,
      `PidFile ${this.folder}/sshd.pid`,
      'PermitRootLogin yes',
      `PasswordAuthentication ${this.password === '' ? 'no' : 'yes'}`,
      'StrictModes no',
      'UsePAM no',
      'PrintMotd no',
      // As on most systems, here and there.
      'AcceptEnv LANG LC_*',
      `MaxSessions ${this.maxSessions}`,
      ...(ahead === 0 ? [] : [`SetEnv PERL5LIB=${this.folder} PERL5OPT=-MClockAhead`]),
      ...(this.searchPath === '' ? [] : [`SetEnv PATH=${this.searchPath}`]),
    ];
    writeFileSync(join(this.folder, 'sshd_config'), `${lines.join('\n')}\n`);
    writeFileSync(
      join(this.folder, 'ClockAhead.pm'),
      `package ClockAhead; BEGIN { require Time::HiRes; my $real = \\&Time::HiRes::time; no warnings; *Time::HiRes::time = sub { $real->() + ${ahead} }; *CORE::GLOBAL::time = sub { CORE::time() + ${ahead} } } 1;\n`,
    );
  }

  /** Number of its first process, as seen from here. */
  initPid() {
    const pid = this.process?.pid;
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
    return Number(children.split(' ')[0]);
  }

  /** What comes before a command that shall run there. */
  get inside() {
    return ['nsenter', '-t', String(this.initPid()), '--mount', '--uts', '--net', '--pid', '--'];
  }

  /** Runs a command there. @param {string} script */
  sh(script) {
    const [program = '', ...there] = this.inside;
    return must(program, [...there, 'sh', '-c', script]);
  }

  /** Another login, with the lab's key. @param {string} name @param {number} id */
  addLogin(name, id) {
    const home = join(this.kept, name);
    mkdirSync(home, { mode: 0o700 });
    chownSync(home, id, id);
    appendFileSync(join(this.folder, 'passwd'), `${name}:x:${id}:${id}::/var/tmp/${name}:/bin/sh\n`);
  }

  /** As pulling the plug: everything there is gone at once. */
  async powerOff() {
    const child = this.process;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolve) => child.once('exit', resolve));
    process.kill(this.initPid(), 'SIGKILL');
    await gone;
    this.process = null;
  }

  /** The listener and all its sessions end. Tasks are not its children. */
  stopSshd() {
    this.sh(
      [
        'for each in /proc/[0-9]*; do',
        '  read -r name <"$each/comm" || continue',
        '  [ "$name" = sshd ] && kill -KILL "${each#/proc/}"',
        'done',
        'true',
      ].join('\n'),
    );
  }

  restartSshd() {
    this.writeConfig();
    this.stopSshd();
    this.sh(
      [
        `for count in 1 2 3 4 5; do ${sshd} -f ${this.folder}/sshd_config -E ${this.folder}/sshd.log && exit 0; sleep 0.1; done`,
        'exit 1',
      ].join('\n'),
    );
  }

  /** As pulling the network cable out of this machine. */
  cut() {
    must('ip', ['link', 'set', this.outside, 'down']);
  }

  mend() {
    must('ip', ['link', 'set', this.outside, 'up']);
  }

  /** What is sent arrives there, but no answer comes back, and nobody is told. */
  mute() {
    must('ip', ['-n', this.space, 'route', 'add', 'blackhole', `${this.network.here}/32`]);
  }

  unmute() {
    must('ip', ['-n', this.space, 'route', 'del', 'blackhole', `${this.network.here}/32`]);
  }

  async close() {
    await this.powerOff();
    rmSync(this.folder, { recursive: true, force: true });
    // The link goes with the namespace.
    spawnSync('ip', ['link', 'del', this.outside]);
    spawnSync('ip', ['netns', 'del', this.space]);
  }
}

export class Lab {
  constructor() {
    const obstacle = labObstacle();
    if (obstacle !== null) throw new Error(obstacle);
    this.folder = mkdtempSync(join(tmpdir(), 'iris-lab-'));
    chmodSync(this.folder, 0o755);
    /** @type {LabHost[]} */
    this.hosts = [];
    must('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'lab', '-f', join(this.folder, 'key')]);
  }

  /** For `ssh -F`: every host by its name, its key known. */
  get configFile() {
    return join(this.folder, 'config');
  }

  get knownHosts() {
    return join(this.folder, 'known_hosts');
  }

  /** A key that needs a passphrase; hosts let it in as well. @param {string} passphrase */
  lockedKey(passphrase) {
    const file = join(this.folder, 'locked');
    must('ssh-keygen', ['-q', '-t', 'ed25519', '-N', passphrase, '-C', 'locked', '-f', file]);
    return file;
  }

  /** @param {string} name @param {{dockerSocket?: string, password?: string, maxSessions?: number}} [more] */
  async host(name, { dockerSocket = '', password = '', maxSessions = 10 } = {}) {
    const host = new LabHost(this, name);
    host.dockerSocket = dockerSocket;
    host.maxSessions = maxSessions;
    host.password = password;
    this.hosts.push(host);
    await host.boot();
    this.writeClient(true);
    return host;
  }

  /** @param {LabHost} host */
  async remove(host) {
    this.hosts = this.hosts.filter((one) => one !== host);
    await host.close();
  }

  /** @param {boolean} keysKnown */
  writeClient(keysKnown) {
    const each = this.hosts.map(
      (host) =>
        `Host ${host.name}\n  HostName ${host.address}\n  User root\n  IdentityFile ${this.folder}/key\n  IdentitiesOnly yes\n  UserKnownHostsFile ${this.knownHosts}\n`,
    );
    writeFileSync(this.configFile, [...each, 'Host *\n  SendEnv LANG LC_*\n'].join('\n'));
    writeFileSync(this.knownHosts, keysKnown ? this.hosts.map((host) => host.knownHostsLine()).join('') : '');
  }

  async close() {
    for (const host of this.hosts) await host.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
