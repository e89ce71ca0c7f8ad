import { once } from 'node:events';
import { expect, it } from '@jest/globals';
import { eventually } from '@tollkeeper/testing';
import type { CommandLineStage } from '../../command-line/command-line.stage.ts';
import { spendSettled } from '../../events.ts';
import { newWorkspace, reportEvents } from '../../workspace.ts';

/** The last of the suites, because it restarts Tollkeeper. */
export function describeCommandLineOutages({ deployment, cli, owner, proxy }: CommandLineStage): void {
  it('events tail says that Tollkeeper is down, and shows what happens once it is back', async () => {
    const { slug, apiKey } = await newWorkspace(owner());
    // The gateway knows the workspaces of another session of the person for some seconds.
    await eventually(async () => expect((await cli.run(['limits', '-w', slug])).code).toBe(0));
    const before = proxy().exchanges.length;
    const tail = cli.start(['events', 'tail', '--count', '1', '-o', 'json', '-w', slug]);
    const ended = once(tail, 'exit');
    let shown = '';
    let said = '';
    tail.stdout?.on('data', (chunk: Buffer) => (shown += chunk));
    tail.stderr?.on('data', (chunk: Buffer) => (said += chunk));
    await eventually(() => expect(proxy().exchanges.length - before).toBeGreaterThanOrEqual(4));

    await deployment().end('SIGTERM');
    await eventually(() => expect(said).toContain('Events continue when Tollkeeper answers again.'));
    await deployment().start();
    await eventually(() => reportEvents(deployment(), apiKey, [spendSettled({ agentId: 'night', amountMicros: 7 })]));
    expect([await ended, said]).toEqual([[0, null], expect.stringContaining('Tollkeeper answers again.')]);
    expect(JSON.parse(shown)).toMatchObject({ type: 'settled', agent_id: 'night' });
  });
}
