import { inputTotal, type TokenKinds } from '@tollkeeper/prices';

/** Numbers of tokens as a sender has them; absent ones are undefined. */
export interface ReportedTokens {
  input: number | undefined;
  /** Whether the sender's input is known to be without cached tokens. */
  inputExcludesCached: boolean;
  output: number | undefined;
  cacheRead: number | undefined;
  /** Includes `cacheWrite1h`. */
  cacheWrite: number | undefined;
  cacheWrite1h: number | undefined;
  reasoning: number | undefined;
}

export interface DisjointTokens {
  tokens: TokenKinds;
  /** Whether the numbers contradict what senders mean by them, so that something else was assumed. */
  inferred: boolean;
}

/**
 * Senders include cached tokens in the input, and reasoning in the output. If they cannot, because the part is larger
 * than the whole, they are taken to be apart. Undefined without any token.
 */
export function disjointTokens(reported: ReportedTokens): DisjointTokens | undefined {
  const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0, cacheWrite1h = 0, reasoning = 0 } = reported;
  const written = Math.max(cacheWrite, cacheWrite1h);
  const cached = cacheRead + written;
  const inputIsApart = cached > input;
  const outputIsApart = reasoning > output;
  const tokens: TokenKinds = {
    input: reported.inputExcludesCached || inputIsApart ? input : input - cached,
    cacheRead,
    cacheWrite: written - cacheWrite1h,
    cacheWrite1h,
    output: outputIsApart ? output + reasoning : output,
    reasoning,
  };
  if (inputTotal(tokens) + tokens.output === 0) return undefined;
  return { tokens, inferred: outputIsApart || (inputIsApart && !reported.inputExcludesCached) };
}
