import type { ServerDuplexStream } from '@grpc/grpc-js';
import { MAX_BATCH_REQUESTS } from '@tollkeeper/contracts';
import { readWhile } from './paced.reading.ts';

/** A request of a stream: `tag` is the caller's, and `request` names the field that has its message. */
export interface TaggedRequest {
  tag: number;
  request?: string;
  [field: string]: unknown;
}

export type StreamCall = ServerDuplexStream<{ requests: TaggedRequest[] }, { answers: object[] }>;

/** The reading and answering side of a stream. */
export interface StreamPipe {
  answer(answer: object): void;
  /** Reads no further request, and ends the stream when all that were read are answered. */
  end(): void;
}

/**
 * Most requests of a stream in progress, besides those of one message: together below the most of a sender. Beyond it
 * nothing is read, so that HTTP/2 makes the caller wait.
 */
const MAX_IN_PROGRESS = 200;
/** Messages of answers that the caller does not read. With long answers, each may have a megabyte. */
const MAX_UNREAD = 2;

/** Calls `take` with the requests of each message, while there is room. Answers of the same turn are sent together. */
export function createStreamPipe(call: StreamCall, take: (requests: TaggedRequest[]) => void): StreamPipe {
  let inProgress = 0;
  let answers: object[] = [];
  let isEnding = false;

  // A caller that does not read its answers gets no more work done.
  const fetchIfRoom = readWhile(
    () => !isEnding && inProgress < MAX_IN_PROGRESS && call.writableLength < MAX_UNREAD,
    call,
  );

  function send(): void {
    const sent = answers;
    answers = [];
    if (call.writableEnded || call.destroyed) return;
    for (let at = 0; at < sent.length; at += MAX_BATCH_REQUESTS) {
      call.write({ answers: sent.slice(at, at + MAX_BATCH_REQUESTS) }, fetchIfRoom);
    }
    if (isEnding && inProgress === 0) call.end();
    else fetchIfRoom();
  }

  function end(): void {
    if (isEnding) return;
    isEnding = true;
    if (inProgress === 0 && answers.length === 0) call.end();
  }

  call.on('end', end);
  call.on('data', ({ requests }: { requests: TaggedRequest[] }) => {
    // A message may still come after the end. Its caller repeats it.
    if (call.writableEnded || call.destroyed) return;
    inProgress += requests.length;
    take(requests);
    fetchIfRoom();
  });

  return {
    answer(answer) {
      inProgress -= 1;
      if (answers.push(answer) === 1) setImmediate(send);
    },
    end,
  };
}
