/** The month of the statement, such as 2026-10; the last one that has ended without it. */
export interface StatementSearch {
  month?: string;
}

export function parseStatementSearch({ month }: Record<string, unknown>): StatementSearch {
  return typeof month === 'string' && /^2\d{3}-(0[1-9]|1[0-2])$/.test(month) ? { month } : {};
}

/** The month so many months before. */
export function monthBefore(month: string, back: number): string {
  const [year = 0, number = 1] = month.split('-').map(Number);
  return new Date(Date.UTC(year, number - 1 - back)).toISOString().slice(0, 'yyyy-mm'.length);
}
