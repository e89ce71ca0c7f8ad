/** Checks the credentials of a stream, and charges its caller so many requests, which are in progress until `ended`. */
export type AdmitReports<C> = (requests: number) => Promise<{ caller: C; ended(): void }>;

/** How the messages of a stream of reports are taken. Made by {@link reported}. */
export interface ReportKind {
  /** The credentials in the first message of a stream whose metadata have none. */
  authorizationIn(first: unknown): string | undefined;
  take(message: unknown, admit: AdmitReports<unknown>): Promise<void>;
}

/**
 * Reports that nobody waits for. `take` must have an end: the next message of the stream is read after it. If it
 * rejects, the stream ends with the error.
 */
export function reported<Message, C>(kind: {
  authorizationIn(first: Message): string | undefined;
  take(message: Message, admit: AdmitReports<C>): Promise<void>;
}): ReportKind {
  return {
    authorizationIn: (first) => kind.authorizationIn(first as Message),
    take: (message, admit) => kind.take(message as Message, admit as AdmitReports<C>),
  };
}
