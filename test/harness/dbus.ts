/** A client of the session bus for tests: calls methods, owns a name, answers calls. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { DbusReader, DbusWriter, type DbusValue } from './dbus-wire.js';

export interface MethodCall {
  readonly sender: string;
  readonly path: string;
  readonly interface: string;
  readonly member: string;
  readonly args: readonly DbusValue[];
}

/** The answer to a call: its signature and values; null: there is no such method. */
export type Answer = { readonly signature: string; readonly values: readonly DbusValue[] } | null;

export interface SessionBus {
  call(
    destination: string,
    path: string,
    method: string,
    signature?: string,
    values?: readonly DbusValue[],
  ): Promise<readonly DbusValue[]>;
  /** Takes a name and answers what is called on it. */
  own(name: string, answer: (call: MethodCall) => Answer): Promise<void>;
  close(): void;
}

interface Message {
  readonly type: number;
  readonly serial: number;
  readonly fields: ReadonlyMap<number, DbusValue>;
  readonly args: readonly DbusValue[];
}

const callType = 1;
const returnType = 2;
const errorType = 3;
const field = {
  path: 1,
  interface: 2,
  member: 3,
  errorName: 4,
  replySerial: 5,
  destination: 6,
  sender: 7,
  signature: 8,
};
const fieldTypes: Readonly<Record<number, string>> = { 1: 'o', 5: 'u', 8: 'g' };
const busName = 'org.freedesktop.DBus';
const busPath = '/org/freedesktop/DBus';

export async function connectSessionBus(
  address = process.env['DBUS_SESSION_BUS_ADDRESS'],
): Promise<SessionBus> {
  const socket = connect(socketPath(address ?? ''));
  await once(socket, 'connect');
  await authenticate(socket);

  let serial = 0;
  const waiting = new Map<
    number,
    { done: (values: readonly DbusValue[]) => void; fail: (error: Error) => void }
  >();
  let answer: (call: MethodCall) => Answer = () => null;

  const send = (
    type: number,
    fields: readonly (readonly [number, DbusValue])[],
    signature: string,
    values: readonly DbusValue[],
  ): number => {
    serial += 1;
    const body = new DbusWriter();
    body.values(signature, values);
    const all = signature === '' ? fields : [...fields, [field.signature, signature] as const];
    const head = new DbusWriter();
    head.values('yyyyuua(yv)', [
      'l'.charCodeAt(0),
      type,
      0,
      1,
      body.take().length,
      serial,
      all.map(([code, value]) => [code, { signature: fieldTypes[code] ?? 's', value }]),
    ]);
    head.align(8);
    socket.write(Buffer.concat([head.take(), body.take()]));
    return serial;
  };

  const receive = ({ type, serial: theirs, fields, args }: Message): void => {
    const reply = waiting.get(Number(fields.get(field.replySerial)));
    if (type === returnType) reply?.done(args);
    else if (type === errorType)
      reply?.fail(new Error(`${String(fields.get(field.errorName))}: ${String(args[0])}`));
    else if (type === callType) {
      const text = (code: number) => textOf(fields.get(code));
      const back = [
        [field.replySerial, theirs],
        [field.destination, text(field.sender)],
      ] as const;
      const given = answer({
        sender: text(field.sender),
        path: text(field.path),
        interface: text(field.interface),
        member: text(field.member),
        args,
      });
      if (given === null) {
        const name = 'org.freedesktop.DBus.Error.UnknownMethod';
        send(errorType, [...back, [field.errorName, name]], 's', [`There is no ${text(field.member)} here.`]);
      } else send(returnType, back, given.signature, given.values);
    }
  };
  readMessages(socket, receive);

  const call: SessionBus['call'] = (destination, path, method, signature = '', values = []) =>
    new Promise((done, fail) => {
      const dot = method.lastIndexOf('.');
      const fields = [
        [field.path, path],
        [field.destination, destination],
        [field.interface, method.slice(0, dot)],
        [field.member, method.slice(dot + 1)],
      ] as const;
      waiting.set(send(callType, fields, signature, values), { done, fail });
    });

  await call(busName, busPath, `${busName}.Hello`);
  return {
    call,
    async own(name, answers) {
      answer = answers;
      const doNotQueue = 4;
      const [owner] = await call(busName, busPath, `${busName}.RequestName`, 'su', [name, doNotQueue]);
      if (owner !== 1) throw new Error(`${name} has an owner already.`);
    },
    close: () => socket.destroy(),
  };
}

function textOf(value: DbusValue): string {
  return typeof value === 'string' ? value : '';
}

function socketPath(address: string): string {
  const found = /unix:(path|abstract)=([^,;]+)/.exec(address);
  if (found?.[2] === undefined) throw new Error(`${address} is no address of a session bus`);
  return found[1] === 'abstract' ? `\0${found[2]}` : found[2];
}

async function authenticate(socket: Socket): Promise<void> {
  const user = Buffer.from(String(process.getuid?.() ?? 0)).toString('hex');
  socket.write(`\0AUTH EXTERNAL ${user}\r\n`);
  const [answer] = (await once(socket, 'data')) as [Buffer];
  if (!answer.toString().startsWith('OK ')) throw new Error(`The session bus says ${answer.toString()}`);
  socket.write('BEGIN\r\n');
}

function readMessages(socket: Socket, receive: (message: Message) => void): void {
  let rest = Buffer.alloc(0);
  socket.on('data', (data: Buffer) => {
    rest = Buffer.concat([rest, data]);
    for (;;) {
      if (rest.length < 16) return;
      const fieldsEnd = 16 + rest.readUInt32LE(12);
      const bodyStart = fieldsEnd + ((8 - (fieldsEnd % 8)) % 8);
      const end = bodyStart + rest.readUInt32LE(4);
      if (rest.length < end) return;
      const reader = new DbusReader(rest.subarray(0, bodyStart));
      const [, type, , , , serial, list] = reader.values('yyyyuua(yv)');
      const fields = new Map(list as [number, DbusValue][]);
      const signature = textOf(fields.get(field.signature));
      const args = new DbusReader(rest.subarray(bodyStart, end)).values(signature);
      rest = rest.subarray(end);
      receive({ type: Number(type), serial: Number(serial), fields, args });
    }
  });
}
