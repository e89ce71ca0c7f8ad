import {
  identifier,
  keyId,
  labelValue,
  moment,
  pauseKindOf,
  type PauseKind,
  reasonText,
  timestamp,
  toPauseScope,
} from '@tollkeeper/contracts';
import { z } from 'zod';
import type { Pause } from '../domain/pause.ts';

const VALUES: Record<PauseKind, z.ZodType<string>> = { agent: identifier, key: keyId, label: labelValue };
const SCOPE = 'must be agent, key, or label: and the name of a label, such as label:team';

const scope = z
  .string()
  .max(64, { error: SCOPE, abort: true })
  .transform((text, ctx) => {
    const known = toPauseScope(text);
    if (known === null) ctx.issues.push({ code: 'custom', input: text, message: SCOPE });
    return known ?? z.NEVER;
  })
  .meta({ description: 'What is paused: `agent`, `key`, or `label:` and the name of a label', example: 'agent' });
const value = z
  .string()
  .max(128, { error: 'must be at most 128 characters', abort: true })
  .meta({ description: 'An `agent_id`, the id of a workspace key, or the value of the label', example: 'agent-7' });
const reason = reasonText.meta({
  description: 'Why. Denied callers read it',
  example: 'Loops since 14:00, see the run of Monday',
});

export const pauseBody = z
  .strictObject({
    scope,
    value,
    until: timestamp.optional().meta({ description: 'When it ends: at most 31 days from now, which is the default' }),
    reason,
  })
  .check(({ issues, value: pause }) => {
    const { error } = VALUES[pauseKindOf(pause.scope).kind].safeParse(pause.value);
    for (const { message } of error?.issues ?? []) {
      issues.push({ code: 'custom', input: pause.value, path: ['value'], message });
    }
  })
  .meta({ id: 'PauseInput' });

export const pauseRecord = z
  .object({
    id: identifier.meta({ example: 'pau_4fG0aZ8kQ2mN6pR1tV5x' }),
    scope: z.string().meta({ description: scope.meta()?.description, example: 'agent' }),
    value,
    reason: z.string(),
    paused_by: z.object({ id: z.string(), name: z.string() }).meta({ description: 'The user, with the name then' }),
    created_at: moment,
    until: moment.meta({ description: 'When it ends, unless an owner or admin ends it before' }),
  })
  .meta({ id: 'Pause' });

export function toPauseRecord({ pausedBy, createdAt, until, ...pause }: Pause): z.output<typeof pauseRecord> {
  const { id, scope, value, reason } = pause;
  const times = { created_at: createdAt.toISOString(), until: until.toISOString() };
  return { id, scope, value, reason, paused_by: { id: pausedBy.id, name: pausedBy.name }, ...times };
}
