import { describe, expect, it } from '@jest/globals';
import { ROLES } from '@tollkeeper/kernel';
import {
  accessLogService,
  authorizationService,
  budgetsService,
  enforcerService,
  fromWireKeyRole,
  fromWireRole,
  identityService,
  keysService,
  limitsService,
  notifierService,
  rateLimitService,
  toWireKeyRole,
  toWireRole,
} from './services.ts';
import { KEY_ROLES } from './workspace-key.ts';

describe('services', () => {
  it('carry every RPC of the proto files', () => {
    expect(Object.keys(budgetsService)).toEqual([
      'GetBudgets',
      'ListBudgets',
      'ListActiveBudgets',
      'RequestRaise',
      'ListGrantedRaises',
      'ListPrices',
    ]);
    const [one, many] = [
      ['Reserve', 'GetReservation', 'Settle', 'Release', 'Extend'],
      ['ReserveMany', 'SettleMany', 'ReleaseMany', 'ReserveStream'],
    ];
    expect(Object.keys(enforcerService)).toEqual([...one, ...many]);
    expect(Object.keys(identityService)).toEqual(['ResolveSession', 'GetWorkspace', 'GetAgents', 'RegisterAgents']);
    expect(Object.keys(keysService)).toEqual(['VerifyKey', 'KeepReport']);
    expect(Object.keys(limitsService)).toEqual(['ListBudgetsByRisk']);
    expect(Object.keys(notifierService)).toEqual(['FindChannels']);
    const ofEnvoy = [rateLimitService, authorizationService, accessLogService];
    expect(ofEnvoy.flatMap(Object.keys)).toEqual(['ShouldRateLimit', 'Check', 'StreamAccessLogs']);
  });

  it('keep a message through serialization, fields of several words included', () => {
    const { requestSerialize, requestDeserialize } = keysService.VerifyKey;
    const request = { keyId: 'k', keySha256: Buffer.from([1, 2]) };
    expect(requestDeserialize(requestSerialize(request))).toEqual(request);
  });

  it('distinguish a budget of zero from a budget that is not set', () => {
    const { responseSerialize, responseDeserialize } = budgetsService.GetBudgets;
    const read = (response: { dailyBudgetUsdMicros?: number }) =>
      responseDeserialize(responseSerialize(response)).dailyBudgetUsdMicros;
    expect([read({}), read({ dailyBudgetUsdMicros: 0 })]).toEqual([undefined, 0]);
    expect(read({ dailyBudgetUsdMicros: Number.MAX_SAFE_INTEGER })).toBe(Number.MAX_SAFE_INTEGER);
  });

  it('keep every role through serialization', () => {
    const { responseSerialize, responseDeserialize } = keysService.VerifyKey;
    for (const role of KEY_ROLES) {
      const message = responseDeserialize(responseSerialize({ tenantId: 't', role: toWireKeyRole(role) }));
      expect(fromWireKeyRole(message.role)).toBe(role);
    }
    for (const role of ROLES) expect(fromWireRole(toWireRole(role))).toBe(role);
  });

  it('do not guess a role that is not set', () => {
    expect(fromWireRole('WORKSPACE_ROLE_UNSPECIFIED')).toBeNull();
    expect(() => fromWireKeyRole('KEY_ROLE_UNSPECIFIED')).toThrow('KEY_ROLE_UNSPECIFIED');
  });
});
