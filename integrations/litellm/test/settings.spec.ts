import { expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const read = (file: string) => readFileSync(join(import.meta.dirname, '..', file), 'utf8');
const names = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, name]) => name).sort();

it('the table of settings has each setting that is read, and no other', () => {
  const settings = names(read('tollkeeper_litellm.py'), /\b(?:setting|number)\(['"](\w+)['"]/g);
  expect(settings).toContain('URL');
  expect(names(read('README.md'), /^\| `TOLLKEEPER_(\w+)`/gm)).toEqual(settings);
});
