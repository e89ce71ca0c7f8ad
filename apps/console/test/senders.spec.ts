import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { newTrialCall, type TrialReport } from '../web/src/pages/connect/trial.ts';
import { SENDERS } from '../web/src/text/senders.ts';

const URL = 'https://tollkeeper.example.com';
const KEY = 'ws_live_KEY';

/** The values that identify the calls of a report. Its times have only digits. */
function idsOf({ body }: TrialReport): string[] {
  const found = JSON.stringify(body).match(/[0-9a-f]{16,}|[0-9a-f]{8}-[0-9a-f-]{27}/g) ?? [];
  return found.filter((id) => !/^\d+$/.test(id));
}

describe('each sender', () => {
  it.each(SENDERS.map((sender) => [sender.name, sender] as const))(
    '%s has settings with the address and the key, and in them nothing that is not known',
    (_name, { settings }) => {
      const all = settings({ url: URL, key: KEY });
      const text = all.map((setting) => setting.text).join('\n');
      expect([text.includes(URL), text.includes(KEY)]).toEqual([true, true]);
      expect(text).not.toMatch(/undefined|NaN|\[object/);
      expect(new Set(all.map(({ place }) => place)).size).toBe(all.length);
    },
  );

  it.each(SENDERS.flatMap(({ name, trial }) => (trial === null ? [] : [[name, trial] as const])))(
    '%s has a trial that is another call each time, with no id of an earlier one',
    (_name, trial) => {
      const [first, second] = [trial(newTrialCall()), trial(newTrialCall())].map(idsOf);
      expect(first!.length).toBeGreaterThan(0);
      expect(first!.filter((id) => second!.includes(id))).toEqual([]);
    },
  );

  it('has an id and a name of its own', () => {
    const ids = SENDERS.map(({ id }) => id);
    expect(ids.filter((id) => !/^[a-z-]+$/.test(id))).toEqual([]);
    expect([new Set(ids).size, new Set(SENDERS.map(({ name }) => name)).size]).toEqual([ids.length, ids.length]);
  });
});

/** The settings of a sender, for the address and the key that the examples have. */
function settingsOf(id: string): string[] {
  const { settings } = SENDERS.find((sender) => sender.id === id)!;
  return settings({ url: 'TOLLKEEPER_URL', key: 'TOLLKEEPER_KEY' }).map(({ text }) => text);
}
const read = (path: string) => readFileSync(join(import.meta.dirname, '../../..', path), 'utf8');
/** All values under this name, at any depth. */
function under(name: string, value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  const named = Array.isArray(value) ? [] : Object.entries(value).filter(([key]) => key === name);
  return [...named.map(([, found]) => found as unknown), ...Object.values(value).flatMap((one) => under(name, one))];
}

describe('the settings of a gateway that asks before calls are those of its example', () => {
  it('Envoy budgets', () => {
    const example: unknown = parse(read('examples/envoy-budgets/envoy.yaml'));
    const [filter, route, log] = settingsOf('envoy-budgets').map((text): unknown => parse(text));
    expect(under('http_filters', example).flat()).toContainEqual((filter as unknown[])[0]);
    expect(under('typed_per_filter_config', example)).toEqual([route]);
    const [ours, theirs] = [log, example].map((one) => under('attributes', under('access_log', one)));
    expect(under('values', theirs).flat()).toEqual(expect.arrayContaining(under('values', ours).flat()));
  });

  it('Envoy ext_authz', () => {
    const blocks = [...read('docs/proxies.md').matchAll(/^```yaml\n([^]*?)^```$/gm)].map(([, text]): unknown =>
      parse(text!),
    );
    expect(blocks).toContainEqual(parse(settingsOf('envoy-authorization')[0]!));
  });

  it('nginx', () => {
    const lines = (text: string) =>
      text
        .split('\n')
        .map((line) => line.trim())
        .filter((line) => line !== '' && !line.startsWith('#'));
    const example = lines(read('examples/nginx/nginx.conf'));
    const ours = settingsOf('nginx').flatMap(lines);
    expect(ours.filter((line) => !example.includes(line))).toEqual([]);
    const asks = (all: string[]) =>
      all.filter((line) => /^(proxy_set_header|auth_request|error_page|add_header)/.test(line));
    expect(asks(ours).toSorted()).toEqual(asks(example).toSorted());
  });

  it('Traefik', () => {
    const example = read('examples/traefik/routes.yaml').replaceAll(/\{\{ env "(\w+)" \}\}/g, '$1');
    const [middlewares, router] = settingsOf('traefik').map((text): unknown => parse(text));
    expect(under('middlewares', parse(example))).toEqual(
      expect.arrayContaining([middlewares, (router as { middlewares: unknown }).middlewares]),
    );
  });

  it('LiteLLM guardrail', () => {
    const example = read('examples/litellm-guardrail/config.yaml')
      .replace('os.environ/TOLLKEEPER_GUARDRAIL', 'TOLLKEEPER_URL/api/v1/adapters/litellm')
      .replace('os.environ/TOLLKEEPER_INTAKE', 'TOLLKEEPER_URL/api/v1/intake/litellm');
    expect(parse(example)).toMatchObject(parse(settingsOf('litellm-guardrail')[0]!) as object);
  });

  it('Portkey', () => {
    expect(JSON.parse(read('examples/portkey/portkey-config.json'))).toMatchObject(
      JSON.parse(settingsOf('portkey')[0]!) as object,
    );
  });
});
