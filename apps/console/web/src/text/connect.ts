import type { Api } from '@tollkeeper/client';
import { money } from '../format/money.ts';
import { counted } from './plurals.ts';

const RECORDS = { one: 'record', other: 'records' };
const CALLS = { one: 'call', other: 'calls' };

type Outcome = Api.ReportedCall['outcome'];
type PricedBy = NonNullable<Api.ReportedCall['priced_by']>;

const AMOUNTS: Record<PricedBy, string> = {
  sender: 'The amount is what the sender reports.',
  override: 'The amount is the price that the workspace has set for its tokens.',
  table: 'The amount is the price of its tokens.',
};

export const connect = {
  title: 'Connect a gateway',
  line: 'Settings for each gateway and agent, and the first calls as Tollkeeper understood them',
  senders: 'Senders',
  /** Stands for the key in settings. */
  placeholder: 'YOUR_KEY',
  key: {
    title: 'Key',
    none: (placeholder: string) =>
      `Replace ${placeholder} in the settings by a workspace key, or create one here. Keys are shown only once, so earlier ones cannot be filled in.`,
    create: 'Create a key',
    created: (name: string) =>
      `The settings contain the new key “${name}”. It is shown only once: copy it, or the settings, before you leave this page.`,
    copy: 'Copy key',
    ask: 'Only owners can create keys. Ask an owner for one.',
  },
  settings: {
    title: (sender: string) => `Settings for ${sender}`,
    copy: (place: string) => `Copy ${place}`,
  },
  arrivals: {
    title: 'Incoming reports',
    waiting: 'Waiting for the first call…',
    withoutCalls: 'A report arrived without a call. See the reasons below.',
    seen: 'seen',
    from: (agent: string) => `First call from agent ${agent}`,
    none: {
      title: 'No reports yet',
      text: 'While this page is open, reports appear here as Tollkeeper understood them. It never reads prompts or answers.',
    },
    busy: 'In a busy workspace, this is a sample of the last reports. All reports count.',
    list: 'Reports',
    size: (records: number, calls: number) => `${counted(records, RECORDS)}, ${counted(calls, CALLS)}`,
    refused: 'refused',
    more: (calls: number) => `${counted(calls, CALLS)} more`,
    noCall: (records: number, reason: string) => `${counted(records, RECORDS)}: ${reason}.`,
    table: (agent: string) => `Facts about a call from ${agent}`,
    fact: 'Fact',
    readFrom: 'Read from',
    value: 'Value',
  },
  call: (agent: string, amount: number | null) => (amount === null ? agent : `${agent}, ${money(amount)}`),
  outcomes: {
    settled: 'counts',
    unpriced: 'no price',
    no_usage: 'no usage',
    client_gone: 'client left',
    failed: 'failed',
  } satisfies Record<Outcome, string>,
  /** Why the amount is what it is. */
  why: {
    settled: (by: Api.ReportedCall['priced_by']) => AMOUNTS[by ?? 'sender'],
    unpriced: () => 'It counts as $0, with its tokens: it has no cost, and the price of its model is not known.',
    no_usage: () => 'It has neither tokens nor a cost, so it counts as an unmetered call.',
    client_gone: () => 'The client left before the usage was known, so it counts as an unmetered call.',
    failed: () => 'It failed without usage, and counts nothing.',
  } satisfies Record<Outcome, (by: Api.ReportedCall['priced_by']) => string>,
  trial: {
    send: 'Send a trial call',
    about: (sender: string, agent: string) =>
      `Sends one call as ${sender} reports it, with the new key. It counts as spend of the agent “${agent}”, at most $0.0001.`,
    needsKey: 'Create a key to send a trial call from this page.',
    sent: 'Trial call sent',
    failed: (status: number) => `The trial call was refused with status ${status}`,
    lost: 'The trial call could not be sent. Try again.',
  },
  /** The facts that Tollkeeper reads. Others are shown by their names. */
  facts: {
    response_model: 'Model of the answer',
    request_model: 'Model of the request',
    model_group: 'Model group',
    provider: 'Provider',
    input_tokens: 'Input tokens',
    output_tokens: 'Output tokens',
    cache_read_tokens: 'Tokens read from the cache',
    cache_write_tokens: 'Tokens written to the cache',
    cache_write1h_tokens: 'Tokens written for an hour',
    reasoning_tokens: 'Reasoning tokens',
    service_tier: 'Service tier',
    cost: 'Cost in USD',
    agent: 'Agent',
    run: 'Run',
    user: 'User',
    team: 'Team',
    plan: 'Plan',
    service: 'Service',
    response_id: 'Id of the answer',
    call_id: 'Id of the call',
    settlement_id: 'Settlement id',
    reservation_id: 'Reservation',
    conversation_id: 'Conversation',
    session_id: 'Session',
    prompt_id: 'Prompt id',
    event_sequence: 'Place in the session',
    event_time: 'Time',
    event_timestamp: 'Time as text',
    call_status: 'Status',
    response_flags: 'Response flags',
    finish_reasons: 'Finish reason',
    error_type: 'Error',
    http_status: 'HTTP status',
  } as Readonly<Record<string, string>>,
};
