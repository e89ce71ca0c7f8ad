import type { Taken } from '../intake/call.intake.ts';

/** Most objects that cannot be read in an answer. */
export const MAX_ERRORS = 20;
/** Most sentences. Each part of a body has its own. */
const MAX_NOTICES = 20;

/** The answer to LiteLLM's callback, from those about the parts of its body. */
export function createTotal() {
  let accepted = 0;
  let objects = 0;
  let dropped = 0;
  const notices = new Set<string>();
  const errors: Taken['unreadable'][number][] = [];
  return {
    /** Objects so far, whether they could be read or not. */
    objects: () => objects,
    add(part: Taken): void {
      accepted += part.accepted;
      objects += part.objects;
      dropped += part.unreadable.length;
      for (const notice of part.notices) if (notices.size < MAX_NOTICES) notices.add(notice);
      errors.push(...part.unreadable.slice(0, MAX_ERRORS - errors.length));
    },
    answer: () => ({ accepted, dropped, notices: [...notices], errors }),
  };
}
