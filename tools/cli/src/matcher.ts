import type { Api } from '@tollkeeper/client';

type Matcher = Api.AlertSilenceInput['matchers'][number];

/** A matcher as it is written on the command line and in files. */
export const MATCHER = /^(rule_id|rule_name|severity|agent_id|label:[^=!]{1,32})(!=|=)(.{1,128})$/s;
export const MATCHER_HELP =
  'such as severity=low, rule_name=Nightly*, agent_id!=research or label:team=growth; a * at the end fits any rest';

/** Of a text that fits {@link MATCHER}. */
export function toMatcher(text: string): Matcher {
  const [, field = '', op, value = ''] = MATCHER.exec(text) ?? [];
  return { field, op: op === '!=' ? '!=' : '=', value };
}

export function matcherText({ field, op, value }: Matcher): string {
  return `${field}${op}${value}`;
}
