/** A mail, ready to be sent. */
export interface Mail {
  /** One address. */
  to: string;
  subject: string;
  text: string;
  /** The same for readers with HTML. Text of others in it must be escaped. */
  html?: string;
  /** Its Message-ID, without angle brackets; otherwise a random one. */
  id?: string;
  /** The Message-ID of the mail that begins its thread. */
  thread?: string;
  /** Further headers, without text of others. */
  headers?: Record<string, string>;
}
