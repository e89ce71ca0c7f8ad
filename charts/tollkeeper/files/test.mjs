// `helm test`: logs in as the first owner, reports a call, reads it back and reserves. It leaves a call of the agent
// helm-test that cost nothing, and a revoked workspace key.
import { readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';

const ANSWER_WITHIN_MS = 15_000;
const READY_WITHIN_MS = 30_000;
const COUNTED_WITHIN_MS = 120_000;
const AGENT = 'helm-test';
const { GATEWAY = '', SECRETS = '' } = process.env;

function secret(name) {
  try {
    return readFileSync(`${SECRETS}/${name}`, 'utf8').trim();
  } catch {
    throw new Error(`The Secret has no ${name}. The test logs in as the first owner: add the key, or skip the test.`);
  }
}

async function send(method, path, headers, body, repeatUntil = Date.now() + READY_WITHIN_MS) {
  const answer = await fetch(new URL(path, GATEWAY), {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  // Right after an installation, a service may not reach another one yet.
  if (answer.status === 503 && Date.now() < repeatUntil) {
    await setTimeout(1000);
    return send(method, path, headers, body, repeatUntil);
  }
  const text = await answer.text();
  if (!answer.ok && !(method === 'GET' && answer.status === 404))
    throw new Error(`${method} ${path} was answered ${answer.status}: ${text.slice(0, 500)}`);
  return { json: JSON.parse(text), cookie: answer.headers.getSetCookie()[0]?.split(';')[0] ?? '' };
}

const login = await send(
  'POST',
  '/api/v1/auth/login',
  {},
  { email: secret('FIRST_OWNER_EMAIL'), password: secret('FIRST_OWNER_PASSWORD') },
);
const [workspace] = login.json.workspaces;
if (workspace === undefined) throw new Error('The first owner has no workspace: invite the owner to one.');
const api = `/w/${workspace.slug}/api/v1`;
const session = { cookie: login.cookie };
console.log(`Logged in to the workspace ${workspace.slug}.`);

/** Reported calls of the agent today. */
async function countCalls() {
  const { json } = await send('GET', `${api}/dashboard/top-agents/details?range=today&agent_id=${AGENT}`, session);
  // Without a call there is no such agent.
  return json.metrics?.unique_settlements ?? 0;
}

const { json: key } = await send('POST', `${api}/management/workspace-keys`, session, {
  name: AGENT,
  role: 'developer',
});
try {
  const gateway = { authorization: `Bearer ${key.api_key}` };
  const before = await countCalls();
  const id = `${AGENT}-${Date.now()}`;
  await send(
    'POST',
    '/api/v1/events',
    { ...gateway, 'content-type': 'application/cloudevents+json' },
    {
      specversion: '1.0',
      id,
      source: AGENT,
      type: 'spend.settled',
      time: new Date().toISOString(),
      data: { settlement_id: id, run_id: id, agent_id: AGENT, amount_micros: 0 },
    },
  );
  console.log('Reported a call.');
  const end = Date.now() + COUNTED_WITHIN_MS;
  while ((await countCalls()) <= before) {
    if (Date.now() > end) throw new Error(`The dashboard did not count the call within ${COUNTED_WITHIN_MS / 1000} s.`);
    await setTimeout(1000);
  }
  console.log('The dashboard has counted it.');
  const { json: reserved } = await send('POST', '/api/v1/reservations', gateway, {
    request_id: id,
    run_id: id,
    agent_id: AGENT,
    amount_micros: 1,
  });
  console.log(`The reservation was ${reserved.decision}.`);
  if (reserved.decision === 'allowed')
    await send('POST', `/api/v1/reservations/${reserved.reservation.id}:release`, gateway, {});
} finally {
  await send('POST', `${api}/management/workspace-keys/${key.id}:revoke`, session, {});
}
