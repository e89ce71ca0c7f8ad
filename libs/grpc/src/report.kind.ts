import type { ServiceDefinition } from '@grpc/grpc-js';

/**
 * Checks the credentials of a stream, and charges its caller so many requests, which are in progress until `ended`. For
 * 0 requests, it only checks.
 */
export type AdmitReports<C> = (requests: number) => Promise<{ caller: C; ended(): void }>;

/** How the messages of a stream of reports are taken. Made by {@link reported}. */
export interface ReportKind {
  /** The credentials in the first message of a stream whose metadata have none. */
  authorizationIn(first: Buffer): string | undefined;
  take(message: Buffer, admit: AdmitReports<unknown>): Promise<void>;
}

/**
 * Reports that nobody waits for. `take` gets the bytes of a message, to decode them once it has admitted their sender.
 * It must have an end: the next message of the stream is read after it. If it rejects, the stream ends with the error.
 */
export function reported<C>(kind: {
  authorizationIn(first: Buffer): string | undefined;
  take(message: Buffer, admit: AdmitReports<C>): Promise<void>;
}): ReportKind {
  return {
    authorizationIn: (first) => kind.authorizationIn(first),
    take: (message, admit) => kind.take(message, admit as AdmitReports<C>),
  };
}

/** The definition of a service whose reports arrive as bytes: grpc-js would decode them before any check. */
export function withReportBytes(
  definition: ServiceDefinition,
  reports: Readonly<Record<string, ReportKind>>,
): ServiceDefinition {
  const asBytes = { requestDeserialize: (bytes: Buffer) => bytes };
  return Object.fromEntries(
    Object.entries(definition).map(([name, rpc]) => [name, name in reports ? { ...rpc, ...asBytes } : rpc]),
  );
}
