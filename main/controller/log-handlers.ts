/** The contract's methods about logs. */
import type { MethodResult } from '../../core/contract/api.js';
import type { Backend } from '../backends/backend.js';
import { LogAnswer, LogRooms } from '../logs/log-answer.js';
import { mergedRead } from '../logs/merged.js';
import { searchLog } from '../logs/search.js';
import type { AttemptRecord } from '../store/types.js';
import type { Handlers } from './session.js';

/** The most an answer may hold, as the contract has it. */
const roomBytes = 1_048_576;
/** More answers are rarely on their way at once. */
const mostRooms = 4;

export function createLogHandlers(
  backend: Backend,
  attempt: (uid: string) => Promise<AttemptRecord>,
): Pick<Handlers, 'log.read' | 'log.merged' | 'log.search'> {
  const rooms = new LogRooms(roomBytes, mostRooms);
  return {
    async 'log.read'({ attemptUid, stream, offset, maxBytes }) {
      const record = await attempt(attemptUid);
      // Not given back after a failure: who was late may still write in it.
      const room = rooms.take();
      const { data, size } = await backend.readLog(attemptUid, stream, offset, maxBytes, room);
      const value: MethodResult<'log.read'> = {
        dataBase64: '',
        size,
        complete: record.attempt.finishedAtMs !== null && offset + data.length >= size,
      };
      return new LogAnswer(value, [data], () => rooms.give(room));
    },
    async 'log.merged'(params) {
      // Ended is read before the sizes: what ends in between is complete with the next call only.
      const record = await attempt(params.attemptUid);
      const room = rooms.take();
      const { chunks, ...places } = await mergedRead({
        read: (...range) => backend.readLog(params.attemptUid, ...range),
        marks: await backend.logMarks(params.attemptUid),
        cursor: params.cursor,
        tail: params.tail,
        sinceMs: params.sinceMs,
        maxBytes: params.maxBytes,
        endedAtMs: record.attempt.finishedAtMs,
        room,
      });
      const value: MethodResult<'log.merged'> = {
        chunks: chunks.map(({ stream, offset }) => ({ stream, offset, dataBase64: '' })),
        ...places,
      };
      return new LogAnswer(
        value,
        chunks.map(({ data }) => data),
        () => rooms.give(room),
      );
    },
    async 'log.search'(params) {
      await attempt(params.attemptUid);
      return await searchLog({
        read: (offset, maxBytes) => backend.readLog(params.attemptUid, params.stream, offset, maxBytes),
        text: params.text,
        matchCase: params.matchCase,
        offset: params.offset,
        limit: params.limit,
      });
    },
  };
}
