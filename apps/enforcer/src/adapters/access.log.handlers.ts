import {
  type AccessLogMessage,
  accessLogService,
  MAX_REPORT_CALLS,
  MAX_REPORT_REASONS,
  MAX_REPORT_TEXT,
  parseWorkspaceKey,
  type ReportContent,
} from '@tollkeeper/contracts';
import { type AdmitReports, type GrpcService, grpcService, reported, type RpcAuthenticator } from '@tollkeeper/grpc';
import { AppError, type TenantId } from '@tollkeeper/kernel';
import type { KeyCheck, VerifiedKey } from '@tollkeeper/workspace-keys';
import { forReport, isTemporary, REPORT_MS } from '../domain/answer.time.ts';
import { callOfEntry } from './access.log.entries.ts';
import type { EndCall, EndedCall } from './call.end.ts';

/** Most entries of a message. Envoy sends some 30, or as many as fit into its `buffer_size_bytes`. */
const MAX_ENTRIES = 1_000;
/** Calls that end together: fewer than a workspace may have in progress. */
const TOGETHER = 100;

const NO_CALL = 'is no call: it has neither x-tollkeeper-agent nor metadata of tollkeeper';

export const ENTRY_OUTCOMES = ['applied', 'ignored', 'set_aside'] as const;
type EntryOutcome = (typeof ENTRY_OUTCOMES)[number];

export interface AccessLogDeps {
  endCall: EndCall;
  check: KeyCheck;
  /** Shows what was understood of a message to people who connect Envoy. */
  show(key: VerifiedKey, path: string, report: ReportContent): void;
  /** What became of the entries of a message. `why` the first one was set aside, if any, is an error or a sentence. */
  onEntries(tenantId: TenantId, entries: Record<EntryOutcome, number>, why: unknown): void;
}

/** The handler of Envoy's access log service: ends the calls that its entries report, and keeps nothing. */
export function createAccessLogHandlers({ endCall, check, ...deps }: AccessLogDeps): GrpcService {
  /** Envoy waits while calls cannot be ended now. */
  async function end(calls: readonly EndedCall[], admit: AdmitReports<VerifiedKey>, aside: Asides, deadline: number) {
    for (let at = 0; at < calls.length; at += TOGETHER) {
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

  async function take({ httpLogs }: AccessLogMessage, admit: AdmitReports<VerifiedKey>): Promise<void> {
    const deadline = performance.now() + REPORT_MS;
    const entries = httpLogs?.logEntry ?? [];
    const records = entries.length;
    const aside = createAsides();
    const beyond = entries.splice(MAX_ENTRIES).length;
    if (beyond > 0) aside.add(`is beyond the ${MAX_ENTRIES} of a message: lower buffer_size_bytes`, beyond);
    const { caller, ended } = await forReport(deadline, () => admit(1));
    ended();
    const calls = entries.flatMap((entry) => {
      try {
        return callOfEntry(entry) ?? [];
      } catch (error) {
        aside.add(error);
        return [];
      }
    });
    const ignored = records - calls.length - aside.count();
    await end(calls, admit, aside, deadline);

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

  const kind = reported<AccessLogMessage, VerifiedKey>({
    authorizationIn({ identifier }) {
      const name = identifier?.logName ?? '';
      return parseWorkspaceKey(name) === null ? undefined : `Bearer ${name}`;
    },
    take,
  });
  const authenticator: RpcAuthenticator<VerifiedKey> = { authenticate: check, senderOf: ({ tenantId }) => tenantId };
  return { ...grpcService(accessLogService, {}, {}, authenticator), reports: { StreamAccessLogs: kind } };
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
