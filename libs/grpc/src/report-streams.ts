import type { handleClientStreamingCall, ServerReadableStream } from '@grpc/grpc-js';
import { newId } from '@tollkeeper/kernel';
import type { AdmitCaller } from './call.admission.ts';
import { textOf } from './call.telemetry.ts';
import { readWhile } from './paced.reading.ts';
import type { ReportKind } from './report.kind.ts';
import { toStatus } from './status.ts';

/** The streams of reports that a server takes. */
export interface ReportStreams {
  /** The handler of the stream RPC at `path`. */
  toCall(path: string, kind: ReportKind, admit: AdmitCaller): handleClientStreamingCall<unknown, unknown>;
  /** Ends all streams, also new ones. Resolves when all messages that were read are taken. */
  end(): Promise<void>;
}

/**
 * Age from which a stream ends, as those of requests do. It ends with a message, since the sender of a report loses
 * what it sends at the same time, and the next one is hardly on its way yet. A stream without messages ends later.
 */
const MAX_AGE_MS = 20_000;
const MAX_SILENT_MS = 5_000;

interface ReportStreamsDeps {
  /** Logs a failure, and returns what the client may know about it. */
  explain(rpc: string, requestId: string, thrown: unknown): unknown;
}

/** Of each stream, one message is in memory: the next one is read when it is taken, so its sender waits. */
export function createReportStreams(
  { explain }: ReportStreamsDeps,
  { maxAgeMs = MAX_AGE_MS, maxSilentMs = MAX_SILENT_MS } = {},
): ReportStreams {
  const open = new Set<() => void>();
  const taking = new Set<Promise<void>>();
  let isEnded = false;

  function toCall(path: string, kind: ReportKind, admit: AdmitCaller): handleClientStreamingCall<unknown, unknown> {
    return (call: ServerReadableStream<unknown, unknown>, callback) => {
      let authorization = textOf(call.metadata, 'authorization');
      let [isFirst, isTaking, isOld, isEnding, isOver] = [true, false, false, false, false];
      const leave = (): void => {
        isOver = true;
        clearTimeout(timer);
        open.delete(end);
      };
      const answer = (error: ReturnType<typeof toStatus> | null): void => {
        if (isOver) return;
        leave();
        callback(error, {});
      };
      const end = (): void => {
        isEnding = true;
        if (!isTaking) answer(null);
      };
      let timer = setTimeout(() => {
        isOld = true;
        timer = setTimeout(end, maxSilentMs);
      }, maxAgeMs);
      const fetchIfRoom = readWhile(() => !isTaking && !isOver, call);

      async function take(message: unknown): Promise<void> {
        const requestId = newId('req');
        try {
          await kind.take(message, async (requests) => {
            const { caller, ended } = await admit({
              authorization,
              requestId,
              rpc: path,
              requests,
              message: undefined,
            });
            return { caller, ended };
          });
        } catch (thrown) {
          answer(toStatus(explain(path, requestId, thrown), requestId));
        }
        isTaking = false;
        if (isEnding) answer(null);
        else fetchIfRoom();
      }

      call.on('data', (message: unknown) => {
        isTaking = true;
        if (isFirst) authorization ??= kind.authorizationIn(message);
        isFirst = false;
        if (isOld) answer(null);
        const taken = take(message).finally(() => taking.delete(taken));
        taking.add(taken);
      });
      call.once('end', end);
      call.once('close', leave);
      open.add(end);
      if (isEnded) end();
    };
  }

  return {
    toCall,
    async end() {
      isEnded = true;
      for (const end of [...open]) end();
      await Promise.all(taking);
    },
  };
}
