export const alertMail = {
  title: 'Alerts by e-mail',
  invalid: {
    title: 'This link is not valid',
    text: 'It was used or replaced, or it has expired. Use the link of a newer mail, or ask an admin of the workspace to send another one.',
  },
  aWorkspace: 'A Tollkeeper workspace',
  workspace: (slug: string) => `The workspace ${slug}`,
  asks: (workspace: string) => `${workspace} wants to send its alerts to this address.`,
  gets: (workspace: string, channel: string | null) =>
    `${workspace} sends alerts to this address${channel === null ? '' : ` (channel ${channel})`}.`,
  confirmed: (workspace: string) => `Confirmed. ${workspace} sends its alerts to this address.`,
  stopped: 'Stopped. This address gets no more mail from this channel.',
  action: {
    confirm: 'Confirm',
    decline: 'Decline',
    stop: 'Stop these mails',
    resume: 'Get them again',
  },
  howToStop: 'Every alert has a link to stop these mails.',
};
