import { setTimeout as delay } from 'node:timers/promises';
import {
  accessLogEntriesOf,
  accessLogService,
  invalidRequest,
  logNameOf,
  MAX_REPORT_CALLS,
  MAX_REPORT_REASONS,
  MAX_REPORT_TEXT,
  parseWorkspaceKey,
  type ReportContent,
} from '@tollkeeper/contracts';
import { type AdmitReports, type GrpcService, grpcService, reported, type RpcAuthenticator } from '@tollkeeper/grpc';
import { AppError, startSlices, type TenantId } from '@tollkeeper/kernel';
import type { KeyCheck, VerifiedKey } from '@tollkeeper/workspace-keys';
import { forReport, isTemporary, REPORT_MS } from '../domain/answer.time.ts';
import { callOfEntry, decodeEntry } from './access.log.entries.ts';
import type { EndCall, EndedCall } from './call.end.ts';
import type { ReportRoom } from './report.room.ts';

/** Most entries of a message. Envoy sends some 30, or as many as fit into its `buffer_size_bytes`. */
const MAX_ENTRIES = 1_000;
/** Calls that end together: fewer than a workspace may have in progress, and a short piece of work. */
const TOGETHER = 25;
/** Pause of a stream whose message was set aside because its workspace sends too much. */
const PAUSE_MS = 1_000;

const NO_CALL = 'is no call: it has neither x-tollkeeper-agent nor metadata of tollkeeper';

export const ENTRY_OUTCOMES = ['applied', 'ignored', 'set_aside'] as const;
type EntryOutcome = (typeof ENTRY_OUTCOMES)[number];

export interface AccessLogDeps {
  endCall: EndCall;
  check: KeyCheck;
  room: ReportRoom;
  /** Shows what was understood of a message to people who connect Envoy. */
  show(key: VerifiedKey, path: string, report: ReportContent): void;
  /** What became of the entries of a message. `why` the first one was set aside, if any, is an error or a sentence. */
  onEntries(tenantId: TenantId, entries: Record<EntryOutcome, number>, why: unknown): void;
}

/** The handler of Envoy's access log service: ends the calls that its entries report, and keeps nothing. */
export function createAccessLogHandlers({ endCall, check, room, ...deps }: AccessLogDeps): GrpcService {
  /** Envoy waits while calls cannot be ended now. */
  async function end(calls: readonly EndedCall[], admit: AdmitReports<VerifiedKey>, aside: Asides, deadline: number) {
    const slices = startSlices();
    for (let at = 0; at < calls.length; at += TOGETHER) {
      // Whatever came meanwhile, such as a question of a gateway, comes first.
      await slices.next();
      const together = calls.slice(at, at + TOGETHER);
      try {
        const { caller, ended } = await forReport(deadline, () => admit(together.length));
        const ending = together.map((call) => forReport(deadline, () => endCall(caller, call)).catch(aside.add));
        await Promise.all(ending).finally(ended);
      } catch (error) {
        if (!isTemporary(error)) throw error;
        aside.add(error, together.length);
      }
    }
  }

  async function take(message: Buffer, admit: AdmitReports<VerifiedKey>): Promise<void> {
    const deadline = performance.now() + REPORT_MS;
    const { caller, ended } = await forReport(deadline, () => admit(0));
    ended();
    const found: Found = { records: 0, ignored: 0, calls: [], aside: createAsides() };
    let isFull = false;
    try {
      await room.run({ tenantId: caller.tenantId, bytes: message.length, deadline }, async () => {
        await readEntries(message, found);
        await end(found.calls, admit, found.aside, deadline);
      });
    } catch (error) {
      if (!isTemporary(error)) throw error;
      found.records = entriesOf(message).records;
      found.aside.add(error, found.records);
      isFull = true;
    }
    report(caller, found);
    if (isFull) await delay(PAUSE_MS);
  }

  function report(caller: VerifiedKey, { records, ignored, calls, aside }: Found): void {
    const counts = { applied: records - ignored - aside.count(), ignored, set_aside: aside.count() };
    deps.onEntries(caller.tenantId, counts, aside.first());
    if (!caller.watched) return;
    const reasons = aside.reasons();
    const notCalls = ignored > 0 ? [...reasons, { reason: NO_CALL, records: ignored }] : reasons;
    deps.show(caller, accessLogService.StreamAccessLogs.path, {
      ...{ records, calls: counts.applied, refusal: '' },
      firstCalls: calls.slice(0, MAX_REPORT_CALLS).map(toReportedCall),
      notCalls: notCalls.slice(0, MAX_REPORT_REASONS),
    });
  }

  const kind = reported<VerifiedKey>({
    authorizationIn(first) {
      const name = readable(() => logNameOf(first));
      return parseWorkspaceKey(name) === null ? undefined : `Bearer ${name}`;
    },
    take,
  });
  const authenticator: RpcAuthenticator<VerifiedKey> = { authenticate: check, senderOf: ({ tenantId }) => tenantId };
  return { ...grpcService(accessLogService, {}, {}, authenticator), reports: { StreamAccessLogs: kind } };
}

const entriesOf = (message: Buffer) => readable(() => accessLogEntriesOf(message, MAX_ENTRIES));

/** What `read` reads of a message. Throws `invalid_request` if its bytes are none. */
function readable<T>(read: () => T): T {
  try {
    return read();
  } catch {
    throw invalidRequest(
      [{ path: 'message', message: 'cannot be read: it is no StreamAccessLogsMessage of Envoy' }],
      1,
    );
  }
}

/** What was found in a message. */
interface Found {
  records: number;
  /** How many entries are about no call. */
  ignored: number;
  calls: EndedCall[];
  aside: Asides;
}

/** Reads entries in slices of work, since a message can have many. */
async function readEntries(message: Buffer, found: Found): Promise<void> {
  const slices = startSlices();
  // The messages of many streams can come in one turn of the event loop.
  await slices.next();
  const { records, entries } = entriesOf(message);
  found.records = records;
  const beyond = records - entries.length;
  if (beyond > 0) found.aside.add(`is beyond the ${MAX_ENTRIES} of a message: lower buffer_size_bytes`, beyond);
  for (const entry of entries) {
    if (slices.usedUp()) await slices.next();
    try {
      const call = callOfEntry(decodeEntry(entry));
      if (call === null) found.ignored += 1;
      else found.calls.push(call);
    } catch (error) {
      found.aside.add(error);
    }
  }
}

type Asides = ReturnType<typeof createAsides>;

/** Counts the entries that were set aside, by their reasons. */
function createAsides() {
  const byReason = new Map<string, number>();
  let first: unknown;
  return {
    add(error: unknown, entries = 1): void {
      first ??= error;
      const said = error instanceof AppError ? error.message : 'Something went wrong on our side.';
      const reason = (typeof error === 'string' ? error : said).slice(0, MAX_REPORT_TEXT).toWellFormed();
      byReason.set(reason, (byReason.get(reason) ?? 0) + entries);
    },
    count: () => [...byReason.values()].reduce((sum, entries) => sum + entries, 0),
    first: () => first,
    reasons: () => [...byReason].map(([reason, records]) => ({ reason, records })),
  };
}

function toReportedCall({ agentId, isAnswered, usage, model }: EndedCall): ReportContent['firstCalls'][number] {
  const used = Object.keys(usage).length > 0;
  const facts = model === null ? [] : [{ fact: 'response_model', name: 'tollkeeper.response_model', value: model }];
  return { agentId, outcome: used ? 'settled' : isAnswered ? 'no_usage' : 'failed', pricedBy: '', facts };
}
