import { counted } from './plurals.ts';

/** Loaded with its pages, to keep the first page small. */
export const bills = {
  title: 'Bills',
  line: 'What providers billed, compared with what Tollkeeper counted, by UTC day and model',
  form: {
    title: 'Compare a bill',
    file: 'Cost file',
    fileHint: 'CSV of at most 1 MiB. Its first line shows which format it has.',
    compare: 'Compare',
    comparing: 'Comparing',
    working: (name: string) => `Reading ${name} and comparing it. A file of many days can take some seconds.`,
    missing: 'Choose a file.',
    large: 'The file is larger than 1 MiB. Export fewer days.',
    unreadable: 'The browser cannot read the file. If it has changed, choose it again.',
    where: 'Where to get the file',
  },
  /** Where each provider offers its cost export. */
  sources: [
    {
      name: 'OpenAI',
      link: { href: 'https://platform.openai.com/usage', name: 'platform.openai.com/usage' },
      text: 'Choose the days, group the spend by line item, and export the cost data. Only organization owners can export it.',
    },
    {
      name: 'Anthropic',
      link: { href: 'https://platform.claude.com', name: 'platform.claude.com' },
      text: 'On the page Cost, choose the days and all workspaces, and export them. You need the role Developer, Billing or Admin.',
    },
    {
      name: 'Other providers',
      link: null,
      text: 'CSV with the columns day (such as 2026-10-31, in UTC), model and amount_usd. Rows of the same day and model add up.',
    },
  ],
  formats: { openai: 'OpenAI', anthropic: 'Anthropic', generic: 'CSV' },
  list: 'Earlier comparisons',
  none: {
    title: 'No bills compared yet',
    admin: 'Download the cost export of OpenAI or Anthropic, or make a CSV file, and compare it above.',
    member: 'Comparisons appear here. Admins of the workspace can compare the cost file of a provider.',
  },
  column: {
    file: 'File',
    days: 'Days (UTC)',
    billed: 'Billed',
    counted: 'Counted',
    difference: 'Difference',
    share: 'Difference (%)',
    when: 'Compared',
  },
  /** Counted minus billed. */
  more: (amount: string) => `+${amount}`,
  less: (amount: string) => `−${amount}`,
  noModel: 'no model',
  unnamed: (days: string) => `Bill of ${days}`,
  of: (format: string, days: string) => `${format}, ${days} (UTC)`,
  compared: 'compared',
  causes: {
    more: 'More was counted than billed. Usual causes are discounts of your contract, and calls of this provider that were paid elsewhere.',
    less: 'Less was counted than billed. Usual causes are calls that no gateway reports, calls without a price or usage, and costs other than tokens, such as searches and images.',
    none: 'What was counted is what was billed.',
    setPrices: 'Set prices',
    showModels: 'Show the models',
    unpriced: (calls: number) =>
      `${counted(calls, { one: 'call has no price and counts', other: 'calls have no price and count' })} as $0.00 in this time.`,
    unmetered: (calls: number) =>
      `${counted(calls, { one: 'call was reported without usage and is', other: 'calls were reported without usage and are' })} not included.`,
  },
  differences: 'Differences',
  by: {
    label: 'Differences by',
    cell: 'Model and day',
    model: 'Model',
    day: 'Day',
  },
  notCounted: {
    title: 'Billed, not counted',
    line: 'On the bill, but nothing was counted: no call was reported, or the calls have no price.',
    none: 'Every model on the bill was counted.',
  },
  notBilled: {
    title: 'Counted, not billed',
    line: 'Not on the bill, for example because another provider bills it. Not included in the figures above.',
    none: 'Every counted model is on the bill.',
  },
};
