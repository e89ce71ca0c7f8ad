import { join } from 'node:path';
import { pythonWith } from '@tollkeeper/testing/python-packages';

/** The Python of a virtual environment in the user's cache that has the LiteLLM proxy in it. */
export function pythonWithLitellm(): Promise<string> {
  return pythonWith({
    name: 'litellm',
    requirements: join(import.meta.dirname, 'requirements.txt'),
    constraints: join(import.meta.dirname, 'constraints.txt'),
  });
}
