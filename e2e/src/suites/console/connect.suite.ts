import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { Api } from '@tollkeeper/client';
import { eventually } from '@tollkeeper/testing';
import type { Page } from 'playwright-core';
import { LOOKS } from '../../browser.ts';
import { tabTo } from '../../console/person.ts';
import type { useWorkspaceInBrowser } from '../../console/workspace.stage.ts';
import type { Stage } from '../../deployment.ts';
import { spendSettled } from '../../events.ts';
import { rememberSecret } from '../../secrets.ts';
import { newMember, newWorkspace, reportEvents, type TestWorkspace } from '../../workspace.ts';

const SENDERS = [
  'LiteLLM callback',
  'LiteLLM OpenTelemetry',
  'OpenTelemetry Collector',
  'Vercel AI SDK',
  'OpenAI Agents SDK / OpenInference',
  'OpenLLMetry',
  'Langfuse SDK',
  'MLflow',
  'Claude Code',
  'Codex',
  'Envoy access log',
  'Envoy budgets',
  'Envoy ext_authz',
  'nginx',
  'Traefik',
  'LiteLLM guardrail',
  'Portkey',
  'curl',
];
/** Portkey settles its calls itself, without reports. */
const REPORTING = SENDERS.filter((name) => name !== 'Portkey');

const AGENT_SPAN = {
  resourceSpans: [
    {
      scopeSpans: [{ spans: [{ attributes: [{ key: 'openinference.span.kind', value: { stringValue: 'AGENT' } }] }] }],
    },
  ],
};

export function describeConsoleConnect(stage: Stage, console: ReturnType<typeof useWorkspaceInBrowser>): void {
  const tab = (page: Page, name: string) => page.getByRole('tab', { name, exact: true });
  /** All that the settings of the chosen sender say. */
  const settings = async (page: Page) =>
    (await page.getByRole('tabpanel').locator('code').allTextContents()).join('\n');
  const reportsOf = async ({ path }: TestWorkspace) =>
    (await console.owner().expect<{ items: Api.IntakeReport[] }>({ path: path('/intake-reports') })).items;
  const post = (path: string, key: string, body: string) =>
    fetch(stage.deployment().baseUrl + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body,
    });

  async function createKey(page: Page): Promise<string> {
    await page.getByRole('button', { name: 'Create a key' }).press('Enter');
    const key =
      (await page
        .getByText(/^ws_live_/)
        .first()
        .textContent()) ?? '';
    rememberSecret(key);
    return key;
  }

  describe.each(LOOKS)('connecting a gateway, at $size size and $theme', (look) => {
    afterEach(() => console.closeAll());

    it('warns of a program whose calls a gateway seems to report as well, here and on the page of spend', async () => {
      const { slug, apiKey } = await newWorkspace(console.owner());
      const call = spendSettled({ agentId: 'coder', amountMicros: 5 });
      const program = { ...call, data: { ...call.data, settlement_id: `cc:${call.id}` } };
      const events = [program, spendSettled({ agentId: 'litellm', amountMicros: 5 })];
      await eventually(() => reportEvents(stage.deployment(), apiKey, events));
      const { page, expectFit } = await console.begin(look);
      for (const path of ['connect', 'spend']) {
        await eventually(async () => {
          await page.goto(`/w/${slug}/${path}`);
          await page.getByRole('heading', { level: 1 }).waitFor();
          await page
            .getByText('Claude Code reported 1 call of the agent coder. 1 of them may')
            .waitFor({ timeout: 5_000 });
        });
        await expectFit();
      }
    });

    it('a new key stands in the settings of every sender, which the keyboard reaches, and a copied one is whole', async () => {
      const { slug } = await newWorkspace(console.owner());
      const { page, expectFit } = await console.begin(look);
      await page.goto(`/w/${slug}/connect`);
      await page.getByText('Waiting for the first call').waitFor();
      const { origin } = new URL(page.url());
      expect(await settings(page)).toContain('TOLLKEEPER_KEY=YOUR_KEY');
      const key = await createKey(page);
      await page.getByRole('status').filter({ hasText: 'It is shown only once' }).waitFor();

      await tabTo(page, tab(page, SENDERS[0]!));
      const seen: string[] = [];
      for (const name of SENDERS) {
        await page.getByRole('tab', { name, exact: true, selected: true }).and(page.locator(':focus')).waitFor();
        await page.getByRole('heading', { name: `Settings for ${name}` }).waitFor();
        const shown = await settings(page);
        if (shown.includes(key) && shown.includes(origin) && !shown.includes('YOUR_KEY')) seen.push(name);
        await expectFit();
        await page.keyboard.press('ArrowRight');
      }
      expect(seen).toEqual(SENDERS);
      await page.getByRole('tab', { name: SENDERS[0]!, selected: true }).waitFor();
      await page.keyboard.press('End');
      await page.waitForURL(/sender=curl/);
      await page.keyboard.press('Home');
      await page.waitForURL(/sender=litellm$/);
      await page.getByRole('button', { name: 'Copy Environment' }).press('Enter');
      expect(await page.evaluate<string>('navigator.clipboard.readText()')).toBe(`TOLLKEEPER_KEY=${key}`);
    });

    // In the other look, the first ones are enough to see that their reports fit.
    const reporting = look === LOOKS[0] ? REPORTING : REPORTING.slice(0, 3);
    it('a trial of every sender is seen, is one call of the agent trial, and counts with its few micros', async () => {
      const workspace = await newWorkspace(console.owner());
      const { page, expectFit } = await console.begin(look);
      await page.goto(`/w/${workspace.slug}/connect`);
      await createKey(page);
      for (const [index, name] of reporting.entries()) {
        await tab(page, name).click();
        await page.getByText(`Sends one call as ${name} reports it`).waitFor();
        await page.getByRole('button', { name: 'Send a trial call' }).press('Enter');
        await eventually(async () => expect(await reportsOf(workspace)).toHaveLength(index + 1));
      }
      await tab(page, 'Portkey').click();
      await page.getByText('Portkey settles its calls by the hook after them').waitFor();
      expect(await page.getByRole('button', { name: 'Send a trial call' }).count()).toBe(0);
      await page.getByText('First call from agent trial').waitFor();
      const list = page.getByRole('list', { name: 'Reports' });
      await eventually(async () =>
        expect(await list.getByText('counts', { exact: true }).count()).toBe(reporting.length),
      );
      await expectFit();

      const reports = await reportsOf(workspace);
      const calls = reports.flatMap(({ first_calls }) => first_calls);
      expect(calls.map(({ outcome, agent_id }) => [outcome, agent_id])).toEqual(
        reporting.map(() => ['settled', 'trial']),
      );
      const micros = calls.reduce((sum, { amount_micros }) => sum + (amount_micros ?? NaN), 0);
      expect(calls.every(({ amount_micros }) => amount_micros! > 0 && amount_micros! <= 100)).toBe(true);
      await eventually(async () => {
        const path = workspace.path('/dashboard/overview?range=today');
        const { spend } = await console.owner().expect<Api.Overview>({ path });
        expect(spend).toMatchObject({ total_micros: micros, unique_settlements: reporting.length });
      });
    });
  });

  describe('what arrives from a gateway', () => {
    afterEach(() => console.closeAll());

    it('is shown as it was understood: each fact, the name that it came from, and its value', async () => {
      const workspace = await newWorkspace(console.owner());
      const { page, expectFit } = await console.begin(LOOKS[0]!);
      await page.goto(`/w/${workspace.slug}/connect?sender=openai-agents`);
      await createKey(page);
      await page.getByRole('button', { name: 'Send a trial call' }).press('Enter');
      const facts = page.getByRole('table', { name: 'Facts about a call from trial' });
      const row = facts.getByRole('row').filter({ hasText: 'Input tokens' });
      await row.waitFor();
      expect(await row.getByRole('cell').allTextContents()).toEqual(['Input tokens', 'llm.token_count.prompt', '12']);
      await page.getByText('trial, $0.000004').waitFor();
      await page.getByText('The amount is the price of its tokens.').waitFor();
      await expectFit();
    });

    it('is shown with the reasons why nothing of it is a call, and with what to change in the sender', async () => {
      const workspace = await newWorkspace(console.owner());
      const { page, expectFit } = await console.begin(LOOKS[0]!);
      await page.goto(`/w/${workspace.slug}/connect?sender=litellm-otel`);
      await page.getByText('No reports yet').waitFor();
      expect((await post('/v1/traces', workspace.apiKey, JSON.stringify(AGENT_SPAN))).status).toBe(200);
      await page.getByText('A report arrived without a call').waitFor();
      await page.getByText('1 record: openinference.span.kind is that of a step around calls.').waitFor();
      await page.getByText('Set LITELLM_OTEL_V2=true, and restart LiteLLM.').waitFor();
      expect((await post('/v1/logs', workspace.apiKey, '{"resourceLogs": [')).status).toBe(400);
      await page.getByText(/It must be an ExportLogsServiceRequest in OTLP\/JSON/).waitFor();
      await expectFit();
    });

    it('comes by the command for curl as well, also if it is pasted as it is', async () => {
      const workspace = await newWorkspace(console.owner());
      const { page } = await console.begin(LOOKS[0]!);
      await page.goto(`/w/${workspace.slug}/connect?sender=curl`);
      await createKey(page);
      await page.getByRole('button', { name: 'Copy Shell' }).press('Enter');
      const command = await page.evaluate<string>('navigator.clipboard.readText()');
      const child = spawn('bash', ['-c', command], { stdio: ['ignore', 'pipe', 'ignore'] });
      expect(await text(child.stdout)).toBe('{}');
      await page.getByText('First call from agent my-agent').waitFor();
    });

    it('is only that of the key that was created on the page, if there is one', async () => {
      const workspace = await newWorkspace(console.owner());
      const { page } = await console.begin(LOOKS[0]!);
      await page.goto(`/w/${workspace.slug}/connect`);
      await page.getByText('No reports yet').waitFor();
      await post('/v1/traces', workspace.apiKey, JSON.stringify(AGENT_SPAN));
      await page.getByRole('list', { name: 'Reports' }).waitFor();
      await createKey(page);
      await page.getByText('Waiting for the first call').waitFor();
      await page.getByText('No reports yet').waitFor();
    });
  });

  describe('the page to connect a gateway', () => {
    afterEach(() => console.closeAll());

    it('forgets a key when it is left, and has it in no address', async () => {
      const { slug } = await newWorkspace(console.owner());
      const { page } = await console.begin(LOOKS[0]!);
      await page.goto(`/w/${slug}/connect`);
      const key = await createKey(page);
      expect(page.url()).not.toContain(key);
      await page.reload();
      await page.getByText('Waiting for the first call').waitFor();
      expect(await page.content()).not.toContain(key);
      expect(await settings(page)).toContain('YOUR_KEY');
    });

    it('shows members the settings and what arrives, and whom to ask for a key', async () => {
      const workspace = await newWorkspace(console.owner());
      const member = await newMember(stage.deployment(), console.owner(), workspace, 'member');
      const { page, expectFit, close } = await console.browser.visit(LOOKS[0]!, member);
      await page.goto(`/w/${workspace.slug}/connect?sender=codex`);
      await page.getByText('Only owners can create keys').waitFor();
      expect(await page.getByRole('button', { name: /key|trial/i }).count()).toBe(0);
      expect(await settings(page)).toContain('authorization = "Bearer YOUR_KEY"');
      await post('/v1/traces', workspace.apiKey, JSON.stringify(AGENT_SPAN));
      await page.getByText('1 record, 0 calls').waitFor();
      await expectFit();
      await close();
    });
  });
}
