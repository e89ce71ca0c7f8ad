/** What was found, in the order in which the page tells it. */
type Facts = Readonly<Record<string, string>>;

const duration = (text: string) => {
  const seconds = Math.abs(Number(text));
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7_200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3_600)} h`;
};

export const sso = {
  or: 'or with a password',
  withPassword: 'Log in with a password',
  done: 'Logging in',
  failed: {
    title: 'You are not logged in',
    by: (provider: string) => `The log-in by “${provider}” failed.`,
    again: 'Back to the log-in',
    request: 'Request',
    provider: 'Provider',
    facts: {
      host: 'Address',
      problem: 'Problem',
      expected: 'Expected',
      got: 'Got',
      error: 'Error',
      description: 'In the provider’s words',
      claim: 'Claim',
      seconds: 'Difference in seconds',
      tolerance: 'Allowed, in seconds',
      missing: 'Claims that were not sent',
      left_out: 'Claims left out because they are too long',
      person: 'Who you are there',
    } as Record<string, string>,
    unknown: {
      title: 'This log-in is over',
      text: 'A log-in works once, in the browser that began it, and for 10 minutes. Log in again.',
    },
    /** For the person, and for whoever they show the page to. */
    reasons: {
      provider_unreachable: () => ({
        what: 'The provider cannot be reached.',
        do: 'Try again in a minute, or log in with a password. If it lasts, show this page to whoever runs Tollkeeper.',
      }),
      provider_invalid: () => ({
        what: 'The provider gave an answer that is none.',
        do: 'Show this page to whoever runs Tollkeeper: the issuer may be mistyped, or the provider has a fault.',
      }),
      issuer_mismatch: () => ({
        what: 'Another issuer answered than the one that is set.',
        do: 'Show this page to whoever runs Tollkeeper. Each letter of an issuer counts, also a slash at its end.',
      }),
      log_in_refused: () => ({
        what: 'The provider did not let you in.',
        do: 'Log in again, or ask whoever runs the provider whether you may use Tollkeeper.',
      }),
      client_refused: () => ({
        what: 'The provider does not accept Tollkeeper’s client id and secret.',
        do: 'Show this page to whoever runs Tollkeeper: the secret may have expired.',
      }),
      code_refused: () => ({
        what: 'The provider does not accept the code of this log-in.',
        do: 'Log in again. If it lasts, show this page to whoever runs Tollkeeper.',
      }),
      token_invalid: () => ({
        what: 'What the provider says of you is not meant for Tollkeeper, or not signed by it.',
        do: 'Show this page to whoever runs Tollkeeper.',
      }),
      clock_off: ({ seconds = '0' }) => ({
        what:
          Number(seconds) > 0
            ? `The provider’s clock is ${duration(seconds)} ahead of Tollkeeper’s.`
            : `The provider’s clock is ${duration(seconds)} behind Tollkeeper’s.`,
        do: 'Show this page to whoever runs Tollkeeper: one of the two clocks is wrong.',
      }),
      subject_mismatch: () => ({
        what: 'The provider gave two answers about two different people.',
        do: 'Show this page to whoever runs the provider.',
      }),
      claim_missing: ({ claim = '' }) => ({
        what: `The provider did not send the claim ${claim}.`,
        do: 'Show this page to whoever runs the provider.',
      }),
      not_mapped: () => ({
        what: 'You are in no group that leads to a workspace here.',
        do: 'Ask whoever gives out the groups. Then log in again.',
      }),
      no_account: () => ({
        what: 'You have no account here.',
        do: 'Ask an owner of a workspace for an invitation.',
      }),
      busy: () => ({
        what: 'Too many people log in at this moment.',
        do: 'Try again in a few seconds.',
      }),
    } satisfies Record<string, (facts: Facts) => { what: string; do: string }>,
  },
  link: {
    title: 'Do you have an account?',
    lead: (provider: string, email: string | null) =>
      email === null
        ? `You have logged in by “${provider}” for the first time.`
        : `You have logged in by “${provider}” as ${email} for the first time.`,
    ask: 'If you have an account here, prove it with its password. You need it this once: from then on the provider is enough.',
    login: 'Login name or e-mail',
    password: 'Password of the account',
    submit: 'This is my account',
    busy: 'Checking',
    wrong: 'Login name or password is wrong.',
    isNew: 'I have no account',
    newText: 'You get one of your own. An account that others made under your e-mail stays theirs, without the e-mail.',
    notNew: 'If you have none, ask an owner of a workspace for an invitation.',
    making: 'Making it',
  },
  report: {
    button: 'Single sign-on',
    buttonOf: (name: string) => `Single sign-on of ${name}`,
    title: (name: string) => `Single sign-on of ${name}`,
    none: 'This person has not logged in by a provider.',
    issuer: 'Issuer',
    subject: 'Subject',
    at: 'Last log-in',
    grant: 'Role from the mapping',
    granted: (role: string, claim: string, value: string) => `${role}, because ${claim} has ${value}`,
    notGranted: 'No rule of this workspace matches',
    claims: 'What the provider sent',
    notSent: 'not sent',
    empty: 'empty',
    others: 'All claims that were sent',
  },
};
