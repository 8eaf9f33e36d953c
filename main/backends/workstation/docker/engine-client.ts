/** The client of one Engine, and what carries its requests. */
import { spawn } from 'node:child_process';
import { Agent as PlainAgent, type AgentOptions } from 'node:http';
import { Agent as TlsAgent } from 'node:https';
import type { Duplex } from 'node:stream';
import { inspect } from 'node:util';
import type Docker from 'dockerode';
import type { Endpoint } from './endpoint.js';
import { listenCommand, startRelay } from './listen-relay.js';
import { programStream } from './program-stream.js';

/**
 * Of a request the client prints all there is, whether anybody reads it or not: its agent with every socket took half of what a
 * container cost here.
 */
const asText = { [inspect.custom]: () => 'Agent' };

/** The Engine never hangs up by itself, and one that ends takes its connections along. */
const kept: AgentOptions = { keepAlive: true, maxFreeSockets: 8 };

export interface EngineClient {
  readonly docker: Docker;
  /** For what is attached to a container; null: it might make one wait. */
  readonly listener: Docker | null;
  /** Connections that wait for a request are ended; those with one go on to its end. */
  readonly close: () => void;
}

/** The client is loaded only where an Engine is asked. */
export async function connectTo(endpoint: Endpoint): Promise<EngineClient> {
  const { default: Client } = await import('dockerode');
  const agent = Object.assign(agentOf(endpoint), asText);
  const clientOf = (carrier: PlainAgent): Docker => {
    const options: Docker.DockerOptions & { readonly agent: PlainAgent } = {
      ...addressFor(endpoint),
      agent: carrier,
    };
    return withoutDockerHost(() => new Client(options));
  };
  const docker = clientOf(agent);
  const listen = listenerOf(endpoint);
  return {
    docker,
    listener:
      listen === 'as usual' ? docker : listen && clientOf(Object.assign(connectingBy(listen), asText)),
    close: () => {
      for (const sockets of Object.values(agent.freeSockets))
        for (const socket of sockets ?? []) socket.destroy();
    },
  };
}

/**
 * Where DOCKER_HOST names an Engine elsewhere, the client takes what else the environment says of that one (certificates, time-outs) for
 * whichever it is told to use, and will not be made when some of it is wrong.
 */
function withoutDockerHost<T>(make: () => T): T {
  const { DOCKER_HOST: kept } = process.env;
  delete process.env['DOCKER_HOST'];
  try {
    return make();
  } finally {
    if (kept !== undefined) process.env['DOCKER_HOST'] = kept;
  }
}

function agentOf(endpoint: Endpoint): PlainAgent {
  switch (endpoint.kind) {
    case 'socket':
      return new PlainAgent(kept);
    case 'tcp':
      return endpoint.tls === null ? new PlainAgent(kept) : new TlsAgent({ ...kept, ...endpoint.tls });
    case 'ssh':
      return connectingBy(() => dialOverSsh(endpoint.args, false));
    case 'connector':
      return connectingBy(endpoint.connect);
  }
}

/**
 * A connection that somebody else makes, for one request each: what carries it is no socket that could be kept. An agent that is given
 * its way to connect, not a class of its own: a class would have Node read its whole HTTP at every start.
 */
function connectingBy(connect: () => Duplex): PlainAgent {
  return Object.assign(new PlainAgent({ keepAlive: false }), { createConnection: connect });
}

function addressFor(endpoint: Endpoint): Docker.DockerOptions {
  switch (endpoint.kind) {
    case 'socket':
      return { socketPath: endpoint.path };
    case 'tcp': {
      const { host, port, tls } = endpoint;
      return { host, port, protocol: tls === null ? 'http' : 'https' };
    }
    case 'ssh':
    case 'connector':
      return { host: 'docker', port: 80, protocol: 'http' };
  }
}

/** What carries a listener; null: nothing that is always read. */
function listenerOf(endpoint: Endpoint): 'as usual' | (() => Duplex) | null {
  switch (endpoint.kind) {
    case 'socket':
    case 'tcp':
      return 'as usual';
    case 'ssh':
      return () => dialOverSsh(endpoint.args, true);
    case 'connector':
      return endpoint.listen ?? null;
  }
}

/** The system's ssh, with the user's own aliases, keys and known hosts; it never asks, as nobody could answer here. */
function dialOverSsh(args: readonly string[], listening: boolean): Duplex {
  const options = ['-o', 'BatchMode=yes', '-o', 'ConnectTimeout=10', '-T'];
  const command = 'docker system dial-stdio';
  const child = spawn('ssh', [...options, ...args, listening ? listenCommand(command) : command], {
    stdio: 'pipe',
  });
  if (listening) startRelay(child);
  return programStream(
    child,
    (code, said) => new Error(`ssh ended with exit code ${code ?? 'unknown'}: ${said}`),
  );
}
