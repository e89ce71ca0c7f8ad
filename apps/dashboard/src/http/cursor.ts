import { AppError } from '@tollkeeper/kernel';
import type { EventCursor } from '../domain/event.reader.ts';

/** A cursor in the form of the API, opaque to clients. */
export function toCursorText({ time, key }: EventCursor): string {
  return Buffer.from(`${time}|${key}`).toString('base64url');
}

/** Throws `invalid_request` for a text that {@link toCursorText} did not make. */
export function fromCursorText(text: string): EventCursor {
  const [, time, key] = /^(\d{1,15})\|(.+)$/s.exec(Buffer.from(text, 'base64url').toString()) ?? [];
  if (time === undefined || key === undefined) {
    const message = 'must be the next_cursor of an earlier answer; leave it out to start at the newest';
    throw new AppError('invalid_request', `cursor ${message}.`, { details: [{ path: 'cursor', message }] });
  }
  return { time: Number(time), key };
}
