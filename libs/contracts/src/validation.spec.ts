import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { timezone } from './api/primitives.ts';
import { issueMessage } from './validation.ts';

function messagesOf(schema: z.ZodType, value: unknown): string[] | undefined {
  return schema.safeParse(value, { error: issueMessage }).error?.issues.map(({ message }) => message);
}

describe('a text that is too long or empty', () => {
  it('gets an error that says what is allowed', () => {
    expect(messagesOf(z.string().max(3), 'four')).toEqual(['must be at most 3 characters']);
    expect(messagesOf(timezone, '')).toContain('must not be empty');
  });

  it('gets the error of its schema, where that has one', () => {
    expect(messagesOf(z.string().max(3, 'must be short'), 'four')).toEqual(['must be short']);
  });
});
