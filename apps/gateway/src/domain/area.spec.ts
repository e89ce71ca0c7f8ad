import { describe, expect, it } from '@jest/globals';
import { AREAS, actsInWorkspace, findArea } from './area.ts';

const found = (path: string) => {
  const hit = findArea(path);
  return hit && [hit.area.name, hit.tenantId];
};

describe('the areas', () => {
  it('give each its service, access, headers and bounds, and a client address to identity alone', () => {
    const MIB = 1024 * 1024;
    const ofEvent = ['ce-specversion', 'ce-id', 'ce-source', 'ce-type', 'ce-time'];
    const ofCall = [
      ...['x-tollkeeper-agent', 'x-tollkeeper-run', 'x-tollkeeper-plan', 'x-tollkeeper-model'],
      ...['x-tollkeeper-estimate-micros', 'x-envoy-auth-partial-body'],
    ];
    const row = ({
      name,
      upstream,
      access,
      headers,
      bodyLimitBytes,
      tellsClientAddress,
      limitsAttempts,
      answerWithinMs,
      atLimit,
    }: (typeof AREAS)[number]) => [
      name,
      upstream,
      typeof access === 'object' ? `${access.read}/${access.write}` : access,
      headers,
      bodyLimitBytes,
      tellsClientAddress,
      ...(limitsAttempts ? ['few POSTs'] : []),
      ...(answerWithinMs === undefined ? [] : [answerWithinMs]),
      ...(atLimit === 'rate_limited' ? [] : [atLimit]),
    ];
    expect(AREAS.map(row)).toEqual([
      ['login', 'identity', 'public', ['cookie'], MIB, true, 'few POSTs'],
      ['reset', 'identity', 'public', [], MIB, true, 'few POSTs'],
      ['single-sign-on', 'identity', 'public', ['cookie'], MIB, true, 'few POSTs'],
      ['forgot', 'identity', 'public', [], MIB, true],
      ['auth', 'identity', 'session', ['cookie'], MIB, true],
      ['budgets', 'budgets', 'owner/owner', [], MIB, false],
      ['budget-list', 'budgets', 'member/owner', [], MIB, false],
      ['prices', 'budgets', 'member/owner', [], MIB, false],
      ['repricing', 'dashboard', 'member/owner', [], MIB, false],
      ['reconciliations', 'dashboard', 'member/admin', [], MIB, false],
      ['workspaces', 'identity', 'session', [], MIB, false],
      ['workspace', 'identity', 'owner/owner', [], MIB, false],
      ['invitation', 'identity', 'visitor', [], MIB, true, 'few POSTs'],
      ['invitations', 'identity', 'owner/owner', [], MIB, false],
      ['membership', 'identity', 'member/member', [], MIB, false],
      ['members', 'identity', 'owner/owner', [], MIB, false],
      ['agents', 'identity', 'member/owner', [], MIB, false],
      ['dashboard', 'dashboard', 'member/member', [], MIB, false],
      ['channels', 'notifier', 'admin/admin', [], MIB, false],
      ['alerts', 'alerts', 'admin/admin', [], MIB, false],
      ['keys', 'keys', 'owner/owner', [], MIB, false],
      ['intake-reports', 'keys', 'member/member', [], MIB, false],
      ['events', 'ingest', 'key', ['authorization', ...ofEvent], 5 * MIB, false],
      ['otlp', 'ingest', 'key', ['authorization', 'x-api-key', 'x-tollkeeper-agent'], 20 * MIB, false],
      ['otlp-below-api', 'ingest', 'key', ['authorization', 'x-api-key', 'x-tollkeeper-agent'], 20 * MIB, false],
      ['otlp-of-langfuse', 'ingest', 'key', ['authorization', 'x-api-key', 'x-tollkeeper-agent'], 20 * MIB, false],
      [
        'intake',
        'ingest',
        'key',
        ['authorization', 'x-api-key', 'x-tollkeeper-agent'],
        128 * MIB,
        false,
        'service_unavailable',
      ],
      ['reservations', 'enforcer', 'key', ['authorization'], MIB, false, 1000],
      ['authz', 'enforcer', 'key', ['authorization', 'x-api-key', ...ofCall], MIB, false, 1000],
      ['litellm', 'enforcer', 'key', ['authorization', 'x-api-key', 'x-tollkeeper-agent'], 8 * MIB, false, 2500],
      ['portkey', 'enforcer', 'key', ['authorization', 'x-api-key', 'x-tollkeeper-agent'], 8 * MIB, false, 2500],
      ['leases', 'enforcer', 'key', ['authorization'], MIB, false, 1000],
      ['limit-leases', 'enforcer', 'admin/owner', [], MIB, false],
      ['limit-reservations', 'enforcer', 'admin/owner', [], MIB, false],
      ['limits', 'enforcer', 'member/owner', [], MIB, false],
      ['audit', 'audit', 'owner/owner', [], MIB, false],
    ]);
    expect(AREAS.filter(actsInWorkspace).map(({ name }) => name)).toEqual([
      'budgets',
      'budget-list',
      'prices',
      'repricing',
      'reconciliations',
      'workspace',
      'invitations',
      'membership',
      'members',
      'agents',
      'dashboard',
      'channels',
      'alerts',
      'keys',
      'intake-reports',
      'limit-leases',
      'limit-reservations',
      'limits',
      'audit',
    ]);
  });

  it.each([
    ['/api/v1/auth/login', ['login', undefined]],
    ['/api/v1/auth/login/x', ['login', undefined]],
    ['/api/v1/auth/logins', ['auth', undefined]],
    ['/api/v1/auth/oidc', ['single-sign-on', undefined]],
    ['/api/v1/auth/oidc/okta/start', ['single-sign-on', undefined]],
    ['/api/v1/auth/oidcs', ['auth', undefined]],
    ['/api/v1/auth/forgot', ['forgot', undefined]],
    ['/api/v1/auth/forgotten', ['auth', undefined]],
    ['/api/v1/auth', ['auth', undefined]],
    ['/api/v1/workspaces', ['workspaces', undefined]],
    ['/api/v1/workspaces/ws_1', ['workspaces', undefined]],
    ['/api/v1/workspaces/ws_1/budgets', ['budgets', 'ws_1']],
    ['/api/v1/workspaces/ws_1/budgets/agents/a', ['budgets', 'ws_1']],
    ['/api/v1/workspaces/ws_1/budgetsx', ['workspaces', undefined]],
    ['/api/v1/workspaces/ws_1/x/budgets', ['workspaces', undefined]],
    ['/api/v1/workspaces//budgets', ['workspaces', undefined]],
    ['/api/v1/workspace', ['workspace', undefined]],
    ['/api/v1/invitations', ['invitations', undefined]],
    ['/api/v1/invitations/inv_1', ['invitations', undefined]],
    ['/api/v1/invitations/tk_invite_x', ['invitation', undefined]],
    ['/api/v1/invitations/tk_invite_x:accept', ['invitation', undefined]],
    ['/api/v1/invitations/tk_invite_x/y', ['invitations', undefined]],
    ['/api/v1/members/me', ['membership', undefined]],
    ['/api/v1/members/mei', ['members', undefined]],
    ['/api/v1/management/workspace-keys/k', ['keys', undefined]],
    ['/api/v1/alerts', ['alerts', undefined]],
    ['/api/v1/alerts/rules', ['alerts', undefined]],
    ['/api/v1/alerts/channels', ['channels', undefined]],
    ['/api/v1/alerts/channels/chan_1/test', ['channels', undefined]],
    ['/api/v1/alerts/channelsx', ['alerts', undefined]],
    ['/api/v1/events', ['events', undefined]],
    ['/v1/traces', ['otlp', undefined]],
    ['/api/v1/otlp/v1/logs', ['otlp-below-api', undefined]],
    ['/api/public/otel/v1/traces', ['otlp-of-langfuse', undefined]],
    ['/api/v1/intake/litellm', ['intake', undefined]],
    ['/api/v1/reservations', ['reservations', undefined]],
    ['/api/v1/reservations/rsv_1:settle', ['reservations', undefined]],
    ['/api/v1/adapters/authz', ['authz', undefined]],
    ['/api/v1/adapters/litellm/beta/litellm_basic_guardrail_api', ['litellm', undefined]],
    ['/api/v1/adapters/portkey/before', ['portkey', undefined]],
    ['/api/v1/leases', ['leases', undefined]],
    ['/api/v1/leases/lse_1:settle', ['leases', undefined]],
    ['/api/v1/limits/leases', ['limit-leases', undefined]],
    ['/api/v1/limits/leases/lse_1:return', ['limit-leases', undefined]],
    ['/api/v1/limits', ['limits', undefined]],
    ['/api/v1/limits/x', ['limits', undefined]],
    ['/api/v1/budgets', ['budget-list', undefined]],
    ['/api/v1/budgets/bud_workspace', ['budget-list', undefined]],
    ['/api/v1/prices', ['prices', undefined]],
    ['/api/v1/prices:reprice', ['repricing', undefined]],
    ['/api/v1/prices:reprice/jobs/rpr_1', ['repricing', undefined]],
    ['/api/v1/limits/reservations', ['limit-reservations', undefined]],
    ['/api/v1/limits/reservations/rsv_1:release', ['limit-reservations', undefined]],
    ['/api/v1/limits/reservationsx', ['limits', undefined]],
  ])('have the path %s in one of them', (path, expected) => {
    expect(found(path)).toEqual(expected);
  });

  it.each(['/', '', '/api/v1', '/api/v1/eventsx', '/api/v1/management', '/x/api/v1/events', '/API/v1/events'])(
    'have nothing at %s',
    (path) => {
      expect(found(path)).toBeNull();
    },
  );
});
