import { afterEach, describe, expect, it } from '@jest/globals';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RULES_DIRECTORY } from '../src/files.ts';
import { promtool } from '../src/promtool.ts';

let copy: string | undefined;

afterEach(() => {
  if (copy !== undefined) rmSync(copy, { recursive: true });
});

describe('the alert rules in Prometheus', () => {
  it('are well formed', async () => {
    expect(await promtool(['check', 'rules', 'alerts.yaml'], RULES_DIRECTORY)).toContain('SUCCESS');
  });

  it('fire when they must, on the series of alerts.test.yaml, and else do not', async () => {
    expect(await promtool(['test', 'rules', 'alerts.test.yaml'], RULES_DIRECTORY)).toContain('SUCCESS');
  });

  it('are seen to be wrong when one of them does not fire', async () => {
    copy = mkdtempSync(join(tmpdir(), 'tollkeeper-rules-'));
    cpSync(RULES_DIRECTORY, copy, { recursive: true });
    const file = join(copy, 'alerts.yaml');
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll('> 0.02', '> 0.5'));
    await expect(promtool(['test', 'rules', 'alerts.test.yaml'], copy)).rejects.toThrow('TollkeeperErrors');
  });
});
