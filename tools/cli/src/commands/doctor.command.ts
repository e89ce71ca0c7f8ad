import { stat } from 'node:fs/promises';
import { type Api, createManagementApi } from '@tollkeeper/client';
import type { Command } from 'commander';
import { apiOf, fetchAsProgram, type Globals } from '../connection.ts';
import { EXIT, Failure, reportOf } from '../failure.ts';
import { clean, nameOf, paint, print, printJson } from '../output.ts';
import { requireSession, type Session, sessionPath } from '../session.file.ts';
import { action } from './command.ts';

interface Finding {
  check: string;
  state: 'ok' | 'warning' | 'problem';
  message: string;
}

/** Tollkeeper refuses events of the future beyond this, and a day may begin at another time here and there. */
const MAX_SKEW_MS = 30_000;
const OTHERS_MAY_READ = 0o077;
const KEY_ID = /^ws_live_([^.]+)\./;

const STYLES = { ok: 'green', warning: 'yellow', problem: 'red' } as const;

export function addDoctorCommand(program: Command): void {
  program
    .command('doctor')
    .description('check the session, the connection, the clock, alerting, and the key in TOLLKEEPER_KEY')
    .action(action(doctor));
}

async function doctor(globals: Globals): Promise<void> {
  const findings = await examine(globals);
  if (globals.output === 'json') printJson(findings);
  else
    for (const { check, state, message } of findings)
      print(`${paint(STYLES[state], state)}  ${check}: ${clean(message)}`);
  if (findings.some(({ state }) => state === 'problem')) process.exitCode = EXIT.failed;
}

async function examine(globals: Globals): Promise<Finding[]> {
  const findings: Finding[] = [];
  const version = `Node ${process.versions.node} on ${process.platform}; the API that this program knows has version 1.`;
  findings.push({ check: 'program', state: 'ok', message: version });
  const session = await examined(findings, 'session', requireSession);
  if (session === undefined) return findings;
  findings.push(await examineFile());
  const account = await examineConnection(findings, session);
  if (account === undefined) return findings;

  const slug = globals.workspace ?? session.workspace;
  const workspace = account.workspaces.find((each) => each.slug === slug);
  if (workspace === undefined) {
    const message = `${slug ?? 'No workspace'} is not one of yours. Choose one with \`tollkeeper use <slug>\`.`;
    findings.push({ check: 'workspace', state: 'problem', message });
    return findings;
  }
  findings.push({ check: 'workspace', state: 'ok', message: `You are ${workspace.role} of ${workspace.slug}.` });
  const system = await examined(findings, 'alerting', () =>
    apiOf(session, workspace.slug).call('GET /api/v1/alerts/system'),
  );
  if (system !== undefined) findings.push(alertingOf(system));
  await examineKey(findings, session, workspace.slug);
  return findings;
}

/** The result; if it fails, a finding that says why and what to do. A role that is too low is no problem. */
async function examined<T>(findings: Finding[], check: string, read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    const { code, message } = reportOf(error);
    const finding = { state: 'problem', message } as const;
    const hidden = { state: 'warning', message: `Not checked. ${message}` } as const;
    findings.push({ check, ...(code === 'forbidden' ? hidden : finding) });
    return undefined;
  }
}

async function examineFile(): Promise<Finding> {
  const path = sessionPath();
  const { mode } = await stat(path);
  if (process.platform === 'win32' || (mode & OTHERS_MAY_READ) === 0) {
    return { check: 'session', state: 'ok', message: `${path} is readable for you alone.` };
  }
  const message = `Other users may read ${path}. Run \`chmod 600 ${path}\`, then \`tollkeeper logout\` and log in again.`;
  return { check: 'session', state: 'problem', message };
}

async function examineConnection(findings: Finding[], { url, session }: Session): Promise<Api.Account | undefined> {
  let skewMs = Number.NaN;
  const api = createManagementApi({
    ...{ url, session },
    fetch: async (...request) => {
      const sentAt = Date.now();
      const response = await fetchAsProgram(...request);
      // The header has whole seconds.
      skewMs = (sentAt + Date.now()) / 2 - (Date.parse(response.headers.get('date') ?? '') + 500);
      return response;
    },
  });
  const account = await examined(findings, 'connection', async () => {
    try {
      return await api.call('GET /api/v1/auth/me');
    } catch (error) {
      const { exitCode, message } = reportOf(error);
      if (exitCode !== EXIT.unreachable) throw error;
      throw new Failure(`${message} Check that ${url} is its address, and that a proxy or firewall lets you reach it.`);
    }
  });
  if (account === undefined) return undefined;
  findings.push({ check: 'connection', state: 'ok', message: `${url} answers, as ${nameOf(account.user)}.` });
  const seconds = Math.round(Math.abs(skewMs) / 1_000);
  const skewed = `Your clock is ${seconds} s ${skewMs > 0 ? 'ahead' : 'behind'}. Synchronize it (NTP).`;
  findings.push(
    Math.abs(skewMs) > MAX_SKEW_MS
      ? { check: 'clock', state: 'warning', message: skewed }
      : { check: 'clock', state: 'ok', message: 'Your clock agrees with that of Tollkeeper.' },
  );
  return account;
}

function alertingOf({ EvaluatorEnabled, DispatcherEnabled, NotEvaluatedSince }: Api.AlertSystemStatus): Finding {
  if (EvaluatorEnabled && DispatcherEnabled && NotEvaluatedSince === null) {
    return { check: 'alerting', state: 'ok', message: 'Rules are evaluated, and notifications are sent.' };
  }
  const since = NotEvaluatedSince === null ? '' : ` since ${NotEvaluatedSince}`;
  const message = `Alerts are not evaluated or not sent${since}. Whoever runs Tollkeeper finds the cause in its runbook.`;
  return { check: 'alerting', state: 'problem', message };
}

async function examineKey(findings: Finding[], session: Session, slug: string): Promise<void> {
  const key = process.env['TOLLKEEPER_KEY'] ?? '';
  if (key === '') return;
  const keys = await examined(findings, 'key', () =>
    apiOf(session, slug).call('GET /api/v1/management/workspace-keys'),
  );
  if (keys === undefined) return;
  const found = keys.items.find(({ id }) => id === KEY_ID.exec(key)?.[1]);
  const problem = problemOfKey(found, slug);
  findings.push({
    check: 'key',
    ...(problem === null
      ? { state: 'ok', message: `The key in TOLLKEEPER_KEY, "${found?.name}", may report calls and reserve.` }
      : { state: 'problem', message: `TOLLKEEPER_KEY: ${problem}` }),
  });
}

function problemOfKey(key: Api.WorkspaceKey | undefined, slug: string): string | null {
  const create = 'Create one with `tollkeeper keys create <name> --role developer`.';
  if (key === undefined) return `it is no key of ${slug}. ${create}`;
  if (key.revoked_at !== null) return `"${key.name}" was revoked at ${key.revoked_at}. ${create}`;
  return key.role === 'read_only' ? `"${key.name}" is read_only, so it cannot report calls. ${create}` : null;
}
