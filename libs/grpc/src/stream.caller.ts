import { type Client, type ClientDuplexStream, type Metadata, type ServiceError, status } from '@grpc/grpc-js';
import { MAX_BATCH_REQUESTS } from '@tollkeeper/contracts';
import { AppError } from '@tollkeeper/kernel';
import { fromRefusal, type WireRefusal } from './batch.ts';
import { fromStatus } from './status.ts';

/** What every answer of a stream has, besides the answer itself. */
interface TaggedAnswer {
  tag: number;
  error?: WireRefusal | null;
}

/** The stream RPC, such as `enforcerService.ReserveStream`. */
interface StreamMethod<Request, Answer> {
  path: string;
  requestSerialize(message: { requests: (Request & { tag: number })[] }): Buffer;
  responseDeserialize(bytes: Buffer): { answers: Answer[] };
}

type OpenStream<Request, Answer> = ClientDuplexStream<
  { requests: (Request & { tag: number })[] },
  { answers: Answer[] }
>;

export interface StreamCallerOptions<Request, Answer> {
  client: Client;
  method: StreamMethod<Request, Answer>;
  /** The credentials, for each stream that is opened. */
  metadata(): Metadata;
  /** Makes the request by its unary RPC, at a server of a release without the stream. */
  alone(request: Request): Promise<NoInfer<Answer>>;
  /** The server in messages, such as `enforcer`. */
  peer: string;
  /** Longest time of a request with all its repetitions. */
  deadlineMs?: number;
}

/** Requests of one caller over one stream. All rejections are `AppError`s. */
export interface StreamCaller<Request, Answer> {
  ask(request: Request): Promise<Answer>;
  /** Rejects requests in progress. The end of the gRPC client does the same. */
  close(): void;
}

interface Pending<Request, Answer> {
  request: Request;
  answered: Promise<Answer>;
  tag: number;
  sentAt: number;
  /** Monotonic milliseconds. */
  deadline: number;
  isOver: boolean;
  end(error: AppError | null, answer?: Answer): void;
}

const DEFAULT_DEADLINE_MS = 2_000;
/** Most requests in progress; the server reads no more. */
const MAX_SENT = 200;
/** Most requests that wait to be sent, also for a quota. */
const MAX_WAITING = 10_000;
/** How long a server without the stream gets unary calls before the stream is tried again. */
const ALONE_MS = 60_000;
const REOPEN_MS = { first: 50, most: 1_000 };
/** Ends of a stream after which requests are repeated: it is over, or the connection or the server is. */
const REPEATED = new Set<status>([status.OK, status.UNAVAILABLE, status.CANCELLED, status.INTERNAL]);

/**
 * Sends requests of the same turn of the event loop together, and waits for nothing else. A stream ends from time to
 * time: then requests without an answer are repeated with the same ids on the next one, so nothing is done twice.
 */
export function createStreamCaller<Request extends object, Answer extends TaggedAnswer>(
  options: StreamCallerOptions<Request, Answer>,
): StreamCaller<Request, Answer> {
  const { alone, peer, deadlineMs = DEFAULT_DEADLINE_MS } = options;
  type One = Pending<Request, Answer>;
  const sent = new Map<number, One>();
  let waiting: One[] = [];
  const refused = createRefused<One>((one) => {
    waiting.push(one);
    sendSoon();
  });
  let stream: OpenStream<Request, Answer> | undefined;
  let [tags, openedAt, answeredAt, aloneUntil] = [0, 0, 0, 0];
  let isClosed = false;
  const soon = createSoon(send);
  const reopening = createPauses(() => sendSoon());

  function take(answers: Answer[]): void {
    answeredAt = performance.now();
    reopening.reset();
    for (const answer of answers) {
      const one = sent.get(answer.tag);
      const error = answer.error ? fromRefusal(answer.error) : null;
      if (one !== undefined && error !== null && refused.takes(one, error)) sent.delete(one.tag);
      else one?.end(error, answer);
    }
    sendSoon();
  }

  function ended(of: typeof stream, error: ServiceError | null): void {
    if (of !== stream) return;
    stream = undefined;
    waiting = [...sent.values(), ...waiting];
    sent.clear();
    if (error?.code === status.UNIMPLEMENTED) aloneUntil = performance.now() + ALONE_MS;
    else if (error !== null && !REPEATED.has(error.code)) return endAll(waiting.splice(0), fromStatus(error, peer));
    else if (error !== null || answeredAt < openedAt) reopening.pause();
    sendSoon();
  }

  function sendSoon(): void {
    if (!isClosed && !reopening.isPaused() && waiting.length > 0) soon();
  }

  function send(): void {
    waiting = waiting.filter(({ isOver }) => !isOver);
    if (performance.now() < aloneUntil) return askAlone(waiting.splice(0), alone);
    while (waiting.length > 0 && sent.size < MAX_SENT) {
      if (stream === undefined) openedAt = performance.now();
      try {
        stream ??= openStream(options, take, ended);
      } catch {
        // The client was closed.
        return close();
      }
      const batch = waiting.splice(0, Math.min(MAX_BATCH_REQUESTS, MAX_SENT - sent.size));
      for (const one of batch) sent.set(tagged(one, (tags = (tags + 1) >>> 0)).tag, one);
      stream.write({ requests: batch.map(({ request, tag }) => ({ ...request, tag })) });
    }
  }

  /** A stream that answers nothing any more may be one whose server is gone. */
  function expire(one: One): void {
    const isSilent = sent.get(one.tag) === one && answeredAt < one.sentAt;
    one.end(tookTooLong(peer));
    if (isSilent) stream?.cancel();
  }

  function close(): void {
    isClosed = true;
    endAll([...sent.values(), ...waiting.splice(0), ...refused.all()], closed());
    stream?.end();
  }

  return {
    ask(request) {
      if (isClosed) return Promise.reject(closed());
      if (waiting.length + refused.size() >= MAX_WAITING) return Promise.reject(tooMany());
      const one: One = pend(request, deadlineMs, {
        expired: () => expire(one),
        ended: () => sent.get(one.tag) === one && sent.delete(one.tag),
      });
      waiting.push(one);
      sendSoon();
      return one.answered;
    },
    close,
  };
}

function openStream<Request, Answer>(
  { client, method, metadata }: StreamCallerOptions<Request, Answer>,
  take: (answers: Answer[]) => void,
  ended: (of: OpenStream<Request, Answer>, error: ServiceError | null) => void,
): OpenStream<Request, Answer> {
  const { path, requestSerialize, responseDeserialize } = method;
  const opened = client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, metadata());
  opened.on('data', ({ answers }: { answers: Answer[] }) => take(answers));
  opened.on('error', (error: ServiceError) => ended(opened, error));
  opened.on('status', ({ code }: { code: status }) => code === status.OK && ended(opened, null));
  return opened;
}

function pend<Request, Answer>(
  request: Request,
  deadlineMs: number,
  on: { expired(): void; ended(): void },
): Pending<Request, Answer> {
  const { promise: answered, resolve, reject } = Promise.withResolvers<Answer>();
  const timer = setTimeout(on.expired, deadlineMs);
  const one: Pending<Request, Answer> = {
    ...{ request, answered, tag: 0, sentAt: 0, deadline: performance.now() + deadlineMs, isOver: false },
    end(error, answer) {
      clearTimeout(timer);
      one.isOver = true;
      on.ended();
      if (error === null) resolve(answer!);
      else reject(error);
    },
  };
  return one;
}

function tagged<One extends Pending<unknown, unknown>>(one: One, tag: number): One {
  return Object.assign(one, { tag, sentAt: performance.now() });
}

function askAlone<Request, Answer>(
  all: Pending<Request, Answer>[],
  alone: (request: Request) => Promise<NoInfer<Answer>>,
): void {
  for (const { request, end } of all) {
    alone(request).then(
      (answer) => end(null, answer),
      (error: AppError) => end(error),
    );
  }
}

function endAll<Request, Answer>(all: Pending<Request, Answer>[], error: AppError): void {
  for (const { end } of all) end(error);
}

/** Calls `act` at the end of this turn of the event loop, once. */
function createSoon(act: () => void): () => void {
  let isDue = false;
  return () => {
    if (isDue) return;
    isDue = true;
    setImmediate(() => {
      isDue = false;
      act();
    });
  };
}

/** Requests that were refused by a quota, until it has room. */
function createRefused<One extends Pick<Pending<unknown, unknown>, 'deadline'>>(sendAgain: (one: One) => void) {
  const refused = new Set<One>();
  return {
    all: (): Iterable<One> => refused,
    size: () => refused.size,
    /** Whether the request waits for its quota, since there is time for it. */
    takes(one: One, { code, retryAfterSeconds = 1 }: AppError): boolean {
      const ms = retryAfterSeconds * 1_000;
      if (code !== 'rate_limited' || performance.now() + ms >= one.deadline) return false;
      refused.add(one);
      setTimeout(() => {
        refused.delete(one);
        sendAgain(one);
      }, ms).unref();
      return true;
    },
  };
}

function tookTooLong(peer: string): AppError {
  const message = `The ${peer} service took too long to answer. Try again shortly.`;
  return new AppError('upstream_timeout', message, { retryAfterSeconds: 1 });
}

function closed(): AppError {
  return new AppError('service_unavailable', 'The stream was closed.');
}

function tooMany(): AppError {
  const message = `${MAX_WAITING} requests are waiting already. Wait for answers before sending more.`;
  return new AppError('service_unavailable', message, { retryAfterSeconds: 1 });
}

/** Pauses before a stream is opened again, each twice as long as the one before. */
function createPauses(over: () => void) {
  let isPaused = false;
  let ms = REOPEN_MS.first;
  return {
    isPaused: () => isPaused,
    reset: () => void (ms = REOPEN_MS.first),
    pause() {
      isPaused = true;
      setTimeout(() => {
        isPaused = false;
        over();
      }, ms).unref();
      ms = Math.min(ms * 2, REOPEN_MS.most);
    },
  };
}
