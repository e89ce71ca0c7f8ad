/** The filters, and the record in the drawer, so that a shared link shows the same. */
export interface AuditSearch {
  actor?: string;
  action?: string;
  target?: string;
  /** Days of the page's zone, "2026-11-22". */
  from?: string;
  to?: string;
  record?: string;
}

const DAY = /^\d{4}-\d\d-\d\d$/;
const ID = /^[A-Za-z0-9._:-]{1,128}$/;
const ACTION = /^[a-z0-9_.-]{1,64}$/;

export function parseAuditSearch(search: Record<string, unknown>): AuditSearch {
  const fits = (name: string, pattern: RegExp) => {
    const value = search[name];
    return typeof value === 'string' && pattern.test(value) && { [name]: value };
  };
  return {
    ...fits('actor', ID),
    ...fits('action', ACTION),
    ...fits('target', ID),
    ...fits('from', DAY),
    ...fits('to', DAY),
    ...fits('record', ID),
  };
}
