import { expect, it } from '@jest/globals';
import { readSearch, writeSearch } from '../web/src/app/search-text.ts';
import { parseAgentsSearch } from '../web/src/pages/agents/agents-search.ts';
import { parseAlertsSearch } from '../web/src/pages/alerts/alerts-search.ts';
import { parseAuditSearch } from '../web/src/pages/audit/audit-search.ts';
import { parseBlockedSearch } from '../web/src/pages/blocked/blocked-search.ts';
import { parseBudgetsSearch } from '../web/src/pages/budgets/budgets-search.ts';
import { firstEvent } from '../web/src/pages/keys/first-event.ts';
import { parseLimitsSearch } from '../web/src/pages/limits/limits-search.ts';
import { parseSpendSearch } from '../web/src/pages/spend/spend-search.ts';

it('an address keeps what its page knows, and drops the rest', () => {
  const alerts = {
    severity: 'high',
    status: 'firing',
    rule: 'r1',
    from: '2026-11-22',
    to: '2026-11-23',
    offset: 50,
    alert: 'a',
    step: 'pause',
  };
  expect(parseAlertsSearch({ ...alerts, other: 'x' })).toEqual(alerts);
  expect(
    parseAlertsSearch({ severity: 'huge', status: 1, from: 'yesterday', offset: -1, rule: ['a'], step: 'x' }),
  ).toEqual({});
  const audit = { actor: 'user_1', action: 'key.create', target: 'k1', from: '2026-11-22', record: 'aud_1' };
  expect(parseAuditSearch({ ...audit, other: 'x' })).toEqual(audit);
  expect(parseAuditSearch({ target: '7', action: 'Key Create', to: 'today', actor: 'a b' })).toEqual({ target: '7' });
  expect(parseBlockedSearch({ kind: 'guard', event: 'e', run: 'r', x: 1 })).toEqual({
    kind: 'guard',
    event: 'e',
    run: 'r',
  });
  expect(parseBlockedSearch({ kind: 'budget' })).toEqual({});
  const plan = { find: 'a', origin: 'plan', sort: 'limit', budget: 'bud_plan.research' };
  expect(parseBudgetsSearch({ ...plan, x: 1 })).toEqual(plan);
  expect(parseBudgetsSearch({ find: 7, origin: 'team', sort: 'age', budget: 'plan/research' })).toEqual({});
  expect([parseAgentsSearch({ find: 'a', x: 1 }), parseAgentsSearch({ find: 7 })]).toEqual([{ find: 'a' }, {}]);
  const released = { state: 'released' };
  expect([parseLimitsSearch({ ...released, x: 1 }), parseLimitsSearch({ state: 'gone' })]).toEqual([released, {}]);
  const ofAgent = { agent: 'a', 'label.team': 'growth', kind: 'guard' };
  expect(parseBlockedSearch(ofAgent)).toEqual({ agent: 'a', kind: 'guard' });
  expect(parseBlockedSearch({ agent: 'a b', 'label.team': 'growth' })).toEqual({ 'label.team': 'growth' });
  const filtered = ['growth', '42', '', 'x'.repeat(129)].map((team) =>
    parseSpendSearch({ by: 'plan', 'label.team': team }),
  );
  const byPlan = { by: 'plan' };
  expect(filtered).toEqual([{ 'label.team': 'growth' }, { 'label.team': '42' }, byPlan, byPlan]);
  expect(parseSpendSearch({ 'label.Team': 'a', 'label.cost.center': 'b', 'label.env': 'c' })).toEqual({
    'label.cost.center': 'b',
  });
  const divided = ['model', 'label:cost.center', 'all', 'label:', 'label:Team'].map((by) => parseSpendSearch({ by }));
  expect(divided).toEqual([{ by: 'model' }, { by: 'label:cost.center' }, {}, {}, {}]);
});

it('an address keeps each value as the text that it is, through a link, a reload and back', () => {
  const texts = ['1.10', '007', 'true', 'null', '1e5', '12345678901234567890', '"a"', '["a"]', 'a b+c&d=e', '50%', 'ü'];
  for (const text of texts) {
    const search = { 'label.version': text, event: text };
    const address = writeSearch(search);
    const read = parseBlockedSearch(readSearch(address));
    expect(read).toEqual(search);
    expect(writeSearch(read)).toBe(address);
    expect(parseBlockedSearch(read)).toEqual(read);
  }
  // As people type it, and as the pages write it.
  expect(parseSpendSearch(readSearch('?label.version=1.10'))).toEqual({ 'label.version': '1.10' });
  expect(writeSearch({ 'label.version': '1.10' })).toBe('?label.version=1.10');
  expect([writeSearch({ find: undefined }), readSearch('')]).toEqual(['', {}]);
});

it('the page of a list of alerts in an address is a whole number above 0', () => {
  expect(parseAlertsSearch(readSearch(writeSearch({ offset: 50 })))).toEqual({ offset: 50 });
  const others = ['', '0', '-50', '1.5', 'two'].map((offset) => parseAlertsSearch({ offset }));
  expect(others).toEqual([{}, {}, {}, {}, {}]);
});

it('the first event names the address and the key, and is one line of JSON for curl', () => {
  const command = firstEvent('https://tollkeeper.example.com', 'ws_live_a.b');
  expect(command).toContain('curl https://tollkeeper.example.com/api/v1/events');
  expect(command).toContain('Bearer ws_live_a.b');
});
