import { z } from 'zod';

/** A description of a plan or budget. */
export const descriptionText = z
  .string()
  .max(1000, 'must be at most 1000 characters')
  .regex(/^[\t\r\n -~\u00a0-\uffff]*$/, 'must not contain control characters other than tabs and line breaks');
