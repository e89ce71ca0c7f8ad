import { describe, expect, it } from '@jest/globals';
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

  it.each(SENDERS.map((sender) => [sender.name, sender] as const))(
    '%s has a trial that is another call each time, with no id of an earlier one',
    (_name, { trial }) => {
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
