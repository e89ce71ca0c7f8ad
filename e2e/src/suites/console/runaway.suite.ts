import { expect, it } from '@jest/globals';
import { eventually } from '@tollkeeper/testing';
import { type MailServer, tokenIn } from '@tollkeeper/testing/mail-server';
import { anonymous } from '../../api.client.ts';
import { LOOKS } from '../../browser.ts';
import { fillLogIn } from '../../console/person.ts';
import type { useWorkspaceInBrowser } from '../../console/workspace.stage.ts';
import type { Stage } from '../../deployment.ts';
import { rememberSecret } from '../../secrets.ts';
import { newWorkspace, type TestWorkspace } from '../../workspace.ts';

const LIMIT = 1_000_000;
const AMOUNT = 2_000_000;
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
/** Far more than a grant takes to count. */
const LEAST_MS = 15_000;
const LINK = /^http\S+\/raises\/\S+\?token=tk_raise_\S+$/m;

interface Decision {
  decision: 'allowed' | 'denied';
  denial?: { budget_id: string; message: string };
}

/** The whole story of a night, with mail from a real server. */
export function describeRunaway(
  stage: Stage,
  console: ReturnType<typeof useWorkspaceInBrowser>,
  mailServer: () => MailServer,
): void {
  /** Calls as the gateway does. */
  async function asGateway({ apiKey }: TestWorkspace, path: string, body: object) {
    const headers = { authorization: `Bearer ${apiKey}` };
    return anonymous(stage.deployment()).call({ method: 'POST', path: `/api/v1${path}`, body, headers });
  }
  const decides = (workspace: TestWorkspace, decision: Decision['decision'], requestId: string, dry_run = false) =>
    eventually(async () => {
      const call = { request_id: requestId, agent_id: 'night-shift', run_id: 'run-1', amount_micros: AMOUNT, dry_run };
      const { body } = await asGateway(workspace, '/reservations', call);
      expect(body).toMatchObject({ decision });
      return body as Decision;
    });

  /** A reader who has confirmed gets mail about requests. */
  async function notifyByMail(workspace: TestWorkspace, address: string) {
    const create = (path: string, body: object) =>
      console.owner().expect<{ id: string }>({ method: 'POST', path: workspace.path(path), body, status: 201 });
    const channel = { channel_type: 'email', name: 'Owners', config: { addresses: [address] } };
    const { id } = await create('/alerts/channels', channel);
    const asked = await eventually(() => {
      const [mail] = mailServer().to(address);
      if (mail === undefined) throw new Error('the mail that asks has not arrived yet');
      return mail;
    });
    const path = `/api/v1/alert-mails/${tokenIn(asked)}:confirm`;
    await anonymous(stage.deployment()).expect({ method: 'POST', path });
    await create('/alerts/rules', {
      ...{ name: 'Requests', severity: 'high', scope_type: 'workspace', scope_id: workspace.id },
      ...{ rule_kind: 'event_count_gte', channel_config_ids: [id] },
      rule_config: { window_seconds: 3_600, threshold: 1, filters: { event_types: ['raise.requested'] } },
    });
  }

  it('a call is denied at night, asked for, granted by the link of a mail, made, and denied again once the raise has ended, as the audit log tells in order', async () => {
    const owner = console.owner();
    const workspace = await newWorkspace(owner);
    const budget = { name: 'Night', selector: {}, period: { kind: 'day' }, limit_micros: LIMIT };
    await owner.expect({ method: 'POST', path: workspace.path('/budgets'), body: budget, status: 201 });
    const address = 'night@people.example.com';
    await notifyByMail(workspace, address);

    // A rehearsal, because the call would be granted before the budget counts.
    await decides(workspace, 'denied', 'rehearsal', true);
    const { denial } = await decides(workspace, 'denied', 'call-1');
    expect(denial!.message).toContain(`POST /api/v1/raise-requests with budget_id ${denial!.budget_id}`);
    const until = new Date(Date.now() + 2 * HOUR_MS).toISOString();
    const terms = { extra_micros: 5_000_000, until, reason: 'The night run needs more' };
    const request = { request_id: 'night-1', budget_id: denial!.budget_id, ...terms };
    const { id } = await eventually(async () => {
      const { status, body } = await asGateway(workspace, '/raise-requests', request);
      expect(status).toBe(201);
      return body as { id: string };
    });
    const read = () => owner.expect<{ state: string }>({ path: workspace.path(`/raises/${id}`) });

    const link = await eventually(() => {
      const found = LINK.exec(mailServer().to(address)[1]?.text ?? '')?.[0];
      if (found === undefined) throw new Error('the mail with the link has not arrived yet');
      return new URL(found);
    });
    const token = link.searchParams.get('token') ?? '';
    rememberSecret(token);
    // Scanners of mail open links.
    for (const method of ['HEAD', 'GET']) expect((await fetch(link, { method })).status).toBe(200);
    expect(await read()).toMatchObject({ state: 'requested' });

    const { page, expectFit, close } = await console.browser.visit(LOOKS[0]!);
    await page.goto(link.pathname + link.search);
    await fillLogIn(page, stage.deployment().owner);
    await page.getByText(/^Workspace key .* asks for \$5\.00 more for Night\.$/).waitFor();
    await expectFit();
    await page.getByRole('button', { name: 'Approve: Night' }).press('Enter');
    const form = page.getByRole('dialog', { name: 'Approve more for Night' });
    // The field has minutes.
    const end = new Date(Math.ceil((Date.now() + LEAST_MS) / MINUTE_MS) * MINUTE_MS);
    await form.getByLabel(/^Until/).fill(end.toISOString().slice(0, 16));
    await form.getByRole('button', { name: 'Approve' }).press('Enter');
    await page.getByText(/This request was approved by /).waitFor();
    await decides(workspace, 'allowed', 'call-1');

    // The raise ends while nobody does anything.
    await decides(workspace, 'denied', 'call-2', true);
    expect(Date.now()).toBeGreaterThanOrEqual(end.getTime());
    expect(await read()).toMatchObject({ state: 'ended' });
    const rows = page.getByRole('table').getByRole('row').filter({ hasText: 'Night' });
    await eventually(async () => {
      await page.goto(`/w/${workspace.slug}/audit?target=${id}`);
      await page.getByRole('button', { name: 'Ended a raise' }).waitFor({ timeout: 2_000 });
    });
    // Newest first.
    const told = await rows.getByRole('button').allTextContents();
    expect(told).toEqual(['Ended a raise', 'Raised a limit', 'Asked for a raise']);
    await expectFit();
    await close();
    expect(stage.deployment().logs()).not.toContain(token.slice(-20));
  });
}
