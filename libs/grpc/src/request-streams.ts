import { type handleBidiStreamingCall, status } from '@grpc/grpc-js';
import { invalidRequest, MAX_BATCH_REQUESTS } from '@tollkeeper/contracts';
import { newId } from '@tollkeeper/kernel';
import { toRefusal } from './batch.ts';
import type { AdmitCaller } from './call.admission.ts';
import { textOf } from './call.telemetry.ts';
import { createFairRoom } from './fair.room.ts';
import { GRPC_STATUS, toStatus } from './status.ts';
import { createStreamPipe, type StreamCall, type StreamPipe, type TaggedRequest } from './stream.pipe.ts';
import type { StreamedKind } from './streamed.kind.ts';

export interface RequestStreamsDeps {
  /** Logs a failure, and returns what the client may know about it. */
  explain(rpc: string, requestId: string, thrown: unknown): unknown;
  /** Called for each request with the path of its stream and its status. */
  onAnswer(rpc: string, code: status): void;
}

/** The streams of requests that a server answers. */
export interface RequestStreams {
  /** The handler of the stream RPC at `path`, whose requests are of these kinds. */
  toCall(
    path: string,
    kinds: Record<string, StreamedKind>,
    admit: AdmitCaller,
  ): handleBidiStreamingCall<unknown, unknown>;
  /** Ends all streams, also new ones. Each first answers what it has read. */
  end(): void;
}

/**
 * Age at which a stream is ended, so that its caller opens another one, maybe at a new replica. It is below the 30
 * seconds that open calls have when a server replaces a connection, so no stream is cut off then.
 */
const MAX_AGE_MS = 20_000;
/** Most streams of a server. Beyond it, the oldest one of the sender with most is ended. */
const MAX_STREAMS = 512;

/**
 * Streams of requests, each answered as if it had come by its unary RPC: with the same schema, errors and quota, and
 * with a check of the key, which is cached. The caller is checked when a stream opens, too.
 */
export function createRequestStreams(deps: RequestStreamsDeps, { maxAgeMs = MAX_AGE_MS } = {}): RequestStreams {
  const open = createFairRoom<StreamPipe>(MAX_STREAMS, (stream) => stream.end());
  let isEnded = false;

  function toCall(path: string, kinds: Record<string, StreamedKind>, admit: AdmitCaller) {
    const refuse = (tag: number, requestId: string, thrown: unknown): object => {
      const error = toRefusal(deps.explain(path, requestId, thrown));
      deps.onAnswer(path, GRPC_STATUS[error.code]);
      return { tag, error };
    };

    /** Requests of one kind that came together are admitted together, as those of a batch are. */
    async function answerKind(pipe: StreamPipe, requests: TaggedRequest[], of: StreamedKind | undefined, said: Said) {
      const requestId = newId('req');
      const answerOne = async ({ tag, request = '', ...messages }: TaggedRequest, caller: unknown) => {
        try {
          if (of === undefined) throw noRequest(Object.keys(kinds));
          const answer = { tag, ...(await of.answer(messages[request], caller)) };
          deps.onAnswer(path, status.OK);
          return answer;
        } catch (thrown) {
          return refuse(tag, requestId, thrown);
        }
      };
      try {
        const asked = { ...said, requestId, rpc: of?.rpc ?? path, requests: requests.length, message: requests };
        const { caller, ended } = await admit(asked);
        const answering = requests.map(async (request) => pipe.answer(await answerOne(request, caller)));
        void Promise.all(answering).then(ended);
      } catch (thrown) {
        for (const { tag } of requests) pipe.answer(refuse(tag, requestId, thrown));
      }
    }

    return (call: StreamCall): void => {
      const said: Said = { authorization: textOf(call.metadata, 'authorization') };
      const fail = (thrown: unknown): void => {
        const requestId = newId('req');
        call.emit('error', toStatus(deps.explain(path, requestId, thrown), requestId));
      };
      const begin = async (): Promise<void> => {
        // No request yet: the key is checked, and no quota charged.
        const asked = { ...said, requestId: newId('req'), rpc: path, requests: 0, message: undefined };
        const { sender, ended } = await admit(asked);
        ended();
        if (call.destroyed) return;
        const pipe = createStreamPipe(call, (requests) => {
          if (requests.length === 0 || requests.length > MAX_BATCH_REQUESTS) return fail(wrongCount());
          const byKind = Map.groupBy(requests, ({ request = '' }) => kinds[request]);
          for (const [kind, of] of byKind) void answerKind(pipe, of, kind, said);
        });
        const timer = setTimeout(pipe.end, maxAgeMs);
        call.once('close', () => {
          clearTimeout(timer);
          open.delete(sender, pipe);
        });
        open.add(sender, pipe);
        if (isEnded) pipe.end();
      };
      begin().catch(fail);
    };
  }

  return {
    toCall: (path, kinds, admit) => toCall(path, kinds, admit) as handleBidiStreamingCall<unknown, unknown>,
    end() {
      isEnded = true;
      for (const stream of open.entries()) stream.end();
    },
  };
}

/** The credentials of a stream. */
interface Said {
  authorization: string | undefined;
}

function noRequest(kinds: string[]) {
  return invalidRequest([{ path: 'request', message: `must be one of ${kinds.join(', ')}` }], 1);
}

function wrongCount() {
  return invalidRequest([{ path: 'requests', message: `must be 1 to ${MAX_BATCH_REQUESTS} requests` }], 1);
}
