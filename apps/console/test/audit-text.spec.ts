import { expect, it } from '@jest/globals';
import { AUDIT_ACTIONS } from '@tollkeeper/contracts';
import { audit } from '../web/src/text/audit.ts';

it('the audit page has words for every action, and for no other', () => {
  expect(audit.actions.map(([action]) => action)).toEqual([...AUDIT_ACTIONS]);
});
