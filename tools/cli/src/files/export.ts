import { Document } from 'yaml';
import type { z } from 'zod';
import { KINDS } from '../kinds/kinds.ts';
import type { WorkspaceContext } from '../kinds/kind.ts';
import { isDeepStrictEqual } from 'node:util';
import { sections } from './document.ts';
import { readKind, requireUnique } from './plan.ts';

/** Where editors find the schema of a file beside it. */
const MODELINE = ' yaml-language-server: $schema=tollkeeper.schema.json';

/** The workspace as a YAML document, without fields that have their defaults. */
export async function exportWorkspace(workspace: WorkspaceContext): Promise<string> {
  const content: Record<string, unknown> = { version: 1 };
  for (const kind of KINDS) {
    const all = await readKind(kind, workspace, null);
    requireUnique(all, kind.section, workspace.slug);
    const entries = all.map((live) => kind.exported(live));
    const schema = (sections as Record<string, z.ZodOptional<z.ZodArray> | undefined>)[kind.section];
    content[kind.section] =
      schema === undefined
        ? entries[0]
        : entries
            .map((entry) => withoutDefaults(entry, schema.unwrap().element as z.ZodType))
            // An entry with its key alone says nothing, such as an agent that calls have named.
            .filter((entry) => Object.keys(entry).length > 1);
  }
  const document = new Document(content);
  document.commentBefore = MODELINE;
  return document.toString({ lineWidth: 0 });
}

function withoutDefaults(entry: object, schema: z.ZodType): object {
  const complete = schema.safeParse(entry).data;
  let shorter: object = entry;
  for (const name of Object.keys(entry)) {
    const rest = Object.fromEntries(Object.entries(shorter).filter(([other]) => other !== name));
    const parsed = schema.safeParse(rest);
    if (parsed.success && isDeepStrictEqual(parsed.data, complete)) shorter = rest;
  }
  return shorter;
}
