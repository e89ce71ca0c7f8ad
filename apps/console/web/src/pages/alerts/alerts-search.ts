export const SEVERITIES = ['critical', 'high', 'medium', 'low', 'info'] as const;
export const STATUSES = ['firing', 'acknowledged', 'resolved'] as const;
/** The ways out of an alert, which the links of messages lead to. */
const STEPS = ['raise', 'pause', 'calls'] as const;
export type Step = (typeof STEPS)[number];

/** The filters, the page of the list, and the alert in the drawer, so that a shared link shows the same. */
export interface AlertsSearch {
  severity?: (typeof SEVERITIES)[number];
  status?: (typeof STATUSES)[number];
  rule?: string;
  /** Days of the page's zone, "2026-11-22". */
  from?: string;
  to?: string;
  offset?: number;
  alert?: string;
  step?: Step;
}

const DAY = /^\d{4}-\d\d-\d\d$/;

export function parseAlertsSearch(search: Record<string, unknown>): AlertsSearch {
  const { rule, from, to, alert } = search;
  const offset = Number(search['offset']);
  const severity = SEVERITIES.find((each) => each === search['severity']);
  const step = STEPS.find((each) => each === search['step']);
  const status = STATUSES.find((each) => each === search['status']);
  return {
    ...(severity !== undefined && { severity }),
    ...(status !== undefined && { status }),
    ...(typeof rule === 'string' && { rule }),
    ...(typeof from === 'string' && DAY.test(from) && { from }),
    ...(typeof to === 'string' && DAY.test(to) && { to }),
    ...(Number.isInteger(offset) && offset > 0 && { offset }),
    ...(typeof alert === 'string' && { alert }),
    ...(step !== undefined && { step }),
  };
}
