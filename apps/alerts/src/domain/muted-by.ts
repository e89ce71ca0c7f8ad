export const MUTE_KINDS = ['silence', 'maintenance'] as const;

/** What holds the messages of an alert back. */
export interface MutedBy {
  kind: (typeof MUTE_KINDS)[number];
  id: string;
  reason: string;
  createdBy: { id: string; name: string };
  /** When it ends unless somebody changes it, epoch milliseconds; null if it never does. */
  until: number | null;
}
