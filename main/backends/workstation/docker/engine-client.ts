/** The client of one Engine, and what carries its requests. */
import { Agent as PlainAgent, type AgentOptions } from 'node:http';
import { Agent as TlsAgent } from 'node:https';
import type { Duplex } from 'node:stream';
import { inspect } from 'node:util';
import type Docker from 'dockerode';
import type { Endpoint } from './endpoint.js';
import { SshDial } from './ssh-dial.js';

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
  const { way, dial } = wayTo(endpoint);
  const agent = Object.assign(agentOf(way), asText);
  const clientOf = (carrier: PlainAgent): Docker => {
    const options: Docker.DockerOptions & { readonly agent: PlainAgent } = {
      ...addressFor(way),
      agent: carrier,
    };
    return withoutDockerHost(() => new Client(options));
  };
  const docker = clientOf(agent);
  const listen = listenerOf(way);
  return {
    docker,
    listener:
      listen === 'as usual' ? docker : listen && clientOf(Object.assign(connectingBy(listen), asText)),
    close: () => {
      for (const sockets of Object.values(agent.freeSockets))
        for (const socket of sockets ?? []) socket.destroy();
      dial?.close();
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

type Direct = Exclude<Endpoint, { readonly kind: 'ssh' }>;

function wayTo(endpoint: Endpoint): { readonly way: Direct; readonly dial: SshDial | null } {
  if (endpoint.kind !== 'ssh') return { way: endpoint, dial: null };
  const dial = new SshDial(endpoint.args);
  const connector = { connect: () => dial.open(false), listen: () => dial.open(true) };
  return { way: { kind: 'connector', ...connector, said: endpoint.said }, dial };
}

function agentOf(endpoint: Direct): PlainAgent {
  switch (endpoint.kind) {
    case 'socket':
      return new PlainAgent(kept);
    case 'tcp':
      return endpoint.tls === null ? new PlainAgent(kept) : new TlsAgent({ ...kept, ...endpoint.tls });
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

function addressFor(endpoint: Direct): Docker.DockerOptions {
  switch (endpoint.kind) {
    case 'socket':
      return { socketPath: endpoint.path };
    case 'tcp': {
      const { host, port, tls } = endpoint;
      return { host, port, protocol: tls === null ? 'http' : 'https' };
    }
    case 'connector':
      return { host: 'docker', port: 80, protocol: 'http' };
  }
}

/** What carries a listener; null: nothing that is always read. */
function listenerOf(endpoint: Direct): 'as usual' | (() => Duplex) | null {
  switch (endpoint.kind) {
    case 'socket':
    case 'tcp':
      return 'as usual';
    case 'connector':
      return endpoint.listen ?? null;
  }
}
