import { setTimeout as delay } from 'node:timers/promises';
import type { handleClientStreamingCall, ServerReadableStream } from '@grpc/grpc-js';
import { AppError, newId } from '@tollkeeper/kernel';
import type { AdmitCaller } from './call.admission.ts';
import { textOf } from './call.telemetry.ts';
import { createFairRoom, type FairRoom } from './fair.room.ts';
import { readWhile } from './paced.reading.ts';
import type { ReportKind } from './report.kind.ts';
import { toStatus } from './status.ts';

/** The streams of reports that a server takes. */
export interface ReportStreams {
  /** The handler of the stream RPC at `path`, whose messages are not decoded. */
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
/** Time in which the first message must arrive if it has the credentials of the stream. */
const ARRIVAL_MS = 5_000;
/** Most streams of a server. Beyond it, the oldest one of the sender with most is ended. */
const MAX_STREAMS = 512;
/** The sender of streams that are not admitted yet. */
const STRANGER = '';

interface ReportStreamsDeps {
  /** Logs a failure, and returns what the client may know about it. */
  explain(rpc: string, requestId: string, thrown: unknown): unknown;
}

interface Times {
  maxAgeMs: number;
  maxSilentMs: number;
  arrivalMs: number;
}

/**
 * A stream is read once its caller is admitted, or up to its first message if only that can have the credentials. Of
 * each stream, one message is in memory: the next one is read when it is taken, so its sender waits.
 */
export function createReportStreams(
  { explain }: ReportStreamsDeps,
  { maxAgeMs = MAX_AGE_MS, maxSilentMs = MAX_SILENT_MS, arrivalMs = ARRIVAL_MS, maxStreams = MAX_STREAMS } = {},
): ReportStreams {
  const open = createFairRoom<() => void>(maxStreams, (end) => end());
  const checking = new Set<() => void>();
  const taking = new Set<Promise<void>>();
  const times = { maxAgeMs, maxSilentMs, arrivalMs };
  let isEnded = false;
  return {
    toCall: (path, kind, admit) => (call, callback) => {
      const rooms = { open, checking, taking };
      const end = serve({ call, path, kind, admit, explain, ...rooms, times, answer: (error) => callback(error, {}) });
      if (isEnded) end();
    },
    async end() {
      isEnded = true;
      for (const end of [...open.entries(), ...checking]) end();
      await Promise.all(taking);
    },
  };
}

interface Served extends ReportStreamsDeps {
  call: ServerReadableStream<unknown, unknown>;
  path: string;
  kind: ReportKind;
  admit: AdmitCaller;
  /** The functions that end each open stream, by sender. */
  open: FairRoom<() => void>;
  /** Those of streams of which nothing is read until their credentials are checked. */
  checking: Set<() => void>;
  /** All messages that were read and are not taken yet. */
  taking: Set<Promise<void>>;
  times: Times;
  answer(error: ReturnType<typeof toStatus> | null): void;
}

/** Takes the messages of a stream until it ends. Returns the function that ends it after the message that was read. */
function serve({ call, path, kind, admit, explain, open, checking, taking, times, ...served }: Served): () => void {
  let authorization = textOf(call.metadata, 'authorization');
  let [isReadable, isTaking, isOld, isEnding, isOver] = [false, false, false, false, false];
  let from = STRANGER;
  const leave = (): void => {
    isOver = true;
    for (const timer of [aging, arrival]) clearTimeout(timer);
    checking.delete(end);
    open.delete(from, end);
  };
  const answer = (error: ReturnType<typeof toStatus> | null): void => {
    if (isOver) return;
    leave();
    served.answer(error);
  };
  const fail = (requestId: string, thrown: unknown): void =>
    answer(toStatus(explain(path, requestId, thrown), requestId));
  const end = (): void => {
    isEnding = true;
    if (!isTaking) answer(null);
  };
  let aging = setTimeout(() => {
    isOld = true;
    aging = setTimeout(end, times.maxSilentMs);
  }, times.maxAgeMs);
  const arrival = setTimeout(() => {
    if (authorization === undefined) fail(newId('req'), noCredentials());
  }, times.arrivalMs);
  const fetchIfRoom = readWhile(() => isReadable && !isTaking && !isOver, call);

  function place(sender: string): void {
    checking.delete(end);
    open.delete(from, end);
    from = sender;
    open.add(from, end);
  }

  async function admitted(requests: number, requestId: string) {
    const admission = await admit({ authorization, requestId, rpc: path, requests, message: undefined });
    if (from === STRANGER && !isOver) place(admission.sender);
    return admission;
  }

  /** Nothing is read before the check of credentials in the metadata, which is repeated while it is not possible. */
  async function begin(): Promise<void> {
    const requestId = newId('req');
    while (authorization !== undefined && checking.has(end)) {
      try {
        (await admitted(0, requestId)).ended();
      } catch (thrown) {
        if (!(thrown instanceof AppError && thrown.code === 'service_unavailable')) return fail(requestId, thrown);
        explain(path, requestId, thrown);
        await delay((thrown.retryAfterSeconds ?? 1) * 1_000);
      }
    }
    if (isOver) return;
    if (authorization === undefined) place(STRANGER);
    isReadable = true;
    fetchIfRoom();
  }

  async function take(message: Buffer): Promise<void> {
    const requestId = newId('req');
    try {
      authorization ??= kind.authorizationIn(message);
      await kind.take(message, (requests) => admitted(requests, requestId));
    } catch (thrown) {
      fail(requestId, thrown);
    }
    isTaking = false;
    if (isEnding) answer(null);
    else fetchIfRoom();
  }

  call.on('data', (message: Buffer) => {
    isTaking = true;
    if (isOld) answer(null);
    const taken = take(message).finally(() => taking.delete(taken));
    taking.add(taken);
  });
  call.once('end', end);
  call.once('close', leave);
  checking.add(end);
  void begin();
  return end;
}

function noCredentials(): AppError {
  const message = 'The stream has no authorization in its metadata, and its first message did not arrive in time.';
  return new AppError('unauthenticated', `${message} Set the key in the metadata.`);
}
