/** A text that does not end goes up to the end, so that no text is searched twice. */
const TOKEN = /'((?:[^'\\]|\\.?)*)(?:'|$)|"(?:[^"\\]|\\.?)*(?:"|$)|\b(None|True|False)\b/gs;
const WORDS = { None: 'null', True: 'true', False: 'false' };

/** Whether it may be a dictionary of Python with an entry. */
export function isPython(text: string): boolean {
  return /^\{\s*'/.test(text);
}

/**
 * A dictionary as Python prints it, in JSON: LiteLLM's spans have `{'cached_tokens': 1024, 'audio_tokens': None}`.
 * Other text comes back as text that is not JSON.
 */
export function pythonToJson(text: string): string {
  return text.replace(TOKEN, (token, single: string | undefined, word: keyof typeof WORDS | undefined) => {
    if (word !== undefined) return WORDS[word];
    if (single === undefined) return token;
    return `"${single.replaceAll("\\'", "'").replace(/(?<!\\)"/g, '\\"')}"`;
  });
}
