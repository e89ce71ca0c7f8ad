export const firstRun = {
  title: 'Set this workspace up',
  lead: 'Four steps from nothing to a budget that holds. Each is checked off by itself.',
  steps: {
    key: { name: 'Make a key', text: 'A gateway reports and asks with it.' },
    event: { name: 'Post a first event', text: 'The key’s page has a line for a shell that does it.' },
    budget: { name: 'Set a budget', text: 'A daily amount that nothing passes.' },
    rule: { name: 'Make a rule', text: 'It tells somebody when calls are blocked or money runs out.' },
  },
  done: 'done',
};
