export const exports = {
  open: 'Export',
  title: 'Export spend',
  rows: { label: 'One row for each', day: 'day', call: 'call', group: (name: string) => `day and ${name}` },
  rowsOfFocus: 'FOCUS has a row for each hour and kind of call.',
  format: { label: 'Format', csv: 'CSV', ndjson: 'JSON lines', focus: 'FOCUS 1.2 (CSV)' },
  hint: 'FOCUS is the open format of FinOps tools. Invoices and discounts are not known.',
  download: 'Download',
};
