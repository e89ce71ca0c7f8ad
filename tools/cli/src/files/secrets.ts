import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import { EXIT, Failure } from '../failure.ts';
import type { ReadSecret } from '../kinds/kind.ts';
import { readText } from './read-text.ts';

const MAX_BYTES = 4_096;

/**
 * Reads secrets from the environment and from files beside the document. A missing one ends the command if it is
 * required; otherwise `onMissing` gets a sentence about it.
 */
export function createSecretReader(folder: string, isRequired: boolean, onMissing: (text: string) => void): ReadSecret {
  return async (reference, field) => {
    const { source, value } =
      typeof reference === 'string' ? fromEnvironment(reference) : await fromFile(folder, reference.file);
    if (value !== undefined) return value;
    if (isRequired) throw new Failure(`${field}: ${source}. Set it, and run the command again.`, EXIT.usage);
    onMissing(`${field} is not compared: ${source}.`);
    return undefined;
  };
}

interface Found {
  source: string;
  value: string | undefined;
}

function fromEnvironment(reference: string): Found {
  const name = reference.slice(2, -1);
  return { source: `the environment variable ${name} is not set`, value: process.env[name] || undefined };
}

async function fromFile(folder: string, file: string): Promise<Found> {
  const path = resolve(folder, file);
  const source = `the file ${path} cannot be read, is empty, or has more than ${MAX_BYTES} bytes`;
  const text = await readText(createReadStream(path), MAX_BYTES).catch(() => null);
  const value = text?.replace(/\r?\n$/, '');
  return { source, value: value || undefined };
}
