import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { documentText } from '../web/src/text/document.ts';

const html = readFileSync(join(import.meta.dirname, '../web/index.html'), 'utf8');

it('index.html takes every word from the texts, so that it can be translated', () => {
  const named = [...html.matchAll(/\{\{(\w+)\}\}/g)].map(([, name]) => name);
  expect(named.sort()).toEqual(Object.keys(documentText).sort());
  const own = html.replaceAll(/\{\{\w+\}\}/g, '');
  // Text between tags, and attributes that are sentences.
  expect(own.match(/>[^<]*\p{L}[^<]*<|="\p{Lu}[^"]*"/gu) ?? []).toEqual([]);
});
