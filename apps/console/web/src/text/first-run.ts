export const firstRun = {
  title: 'Set up this workspace',
  lead: 'Four steps from an empty workspace to an enforced budget. Each is checked off automatically.',
  steps: {
    key: { name: 'Create a key', text: 'Gateways authenticate with it.' },
    event: { name: 'Send a first event', text: 'Connect your gateway, or send a trial call.' },
    budget: { name: 'Set a budget', text: 'Calls that would exceed the daily amount are blocked.' },
    rule: { name: 'Create an alert rule', text: 'Get notified when calls are blocked or a budget runs low.' },
  },
  done: 'done',
};
