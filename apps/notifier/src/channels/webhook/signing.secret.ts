import { z } from 'zod';

const MAX_LENGTH = 512;
/** A shorter secret could be found by brute force from one delivery and its signature. */
const MIN_BYTES = 16;

export const signingSecret = z
  .string()
  .min(1, { error: 'must not be empty', abort: true })
  .max(MAX_LENGTH, `must be at most ${MAX_LENGTH} characters`)
  .refine(isUsable, { error: 'must have base64 after whsec_', abort: true })
  .refine(
    (secret) => byteLength(secret) >= MIN_BYTES,
    `must have at least ${MIN_BYTES} bytes, for example whsec_ followed by the base64 of 24 random bytes`,
  )
  .meta({
    description:
      `Key that signs notifications: \`whsec_<base64>\`, or any other text in UTF-8; at least ${MIN_BYTES} bytes. ` +
      'No response shows it.',
    example: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD',
  });

function isUsable(secret: string): boolean {
  if (!secret.startsWith('whsec_')) return true;
  const base64 = secret.slice('whsec_'.length);
  return base64 !== '' && base64.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(base64);
}

/** The number of bytes in the key: those after `whsec_`, or the UTF-8 bytes of any other text. */
function byteLength(secret: string): number {
  if (!secret.startsWith('whsec_')) return Buffer.byteLength(secret);
  return Buffer.byteLength(secret.slice('whsec_'.length), 'base64');
}
